heroku drains:add '__SCHEME__://dendro:__KEY__@__HOST__:__PORT__/heroku?dataset=app' --app my-app
