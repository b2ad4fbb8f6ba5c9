curl __URL__/ingest/default/app \
  -H 'X-SERVICE-API-KEY: __KEY__' \
  -H 'Content-Type: application/x-ndjson' \
  -d '{"level": "info", "message": "hello", "customer": {"id": 9}}'
