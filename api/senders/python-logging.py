import logging

from dendro import DendroHandler

log = logging.getLogger("shop")
log.addHandler(DendroHandler("__URL__", "__KEY__", dataset="app"))

log.warning("order %d is late", 7, extra={"customer": {"id": 9}})
