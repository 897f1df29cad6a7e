/** The number of changes that are kept, of all tenants. */
export const KEPT_CHANGES = 65_536;

/**
 * Which calls have changed. Every version of the program writes this in the transaction of the change. Unlogged: a
 * crash of the server empties it. Row 0 says since when it is complete. A change is found by its transaction and not by
 * its number, because a lower number may be committed later.
 */
export const CHANGES = `
  CREATE UNLOGGED TABLE {s}.changes (
    number bigserial PRIMARY KEY,
    changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    position integer NOT NULL
  );
  CREATE INDEX changes_by_tenant ON {s}.changes (tenant, changed_in);

  -- The oldest go with some of the changes. Nothing waits for a row that another transaction holds.
  CREATE FUNCTION {s}.call_changed_1() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE written bigint;
  BEGIN
    INSERT INTO {s}.changes (tenant, batch_id, position) VALUES (NEW.tenant, NEW.batch_id, NEW.position)
    RETURNING number INTO written;
    IF written % 256 = 0 THEN
      DELETE FROM {s}.changes c WHERE c.number IN (
        SELECT o.number FROM {s}.changes o WHERE o.number > 0 AND o.number < written - ${KEPT_CHANGES}
        ORDER BY o.number LIMIT 512 FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER call_changed AFTER INSERT OR UPDATE OF worker_id, finished_at ON {s}.calls
  FOR EACH ROW EXECUTE FUNCTION {s}.call_changed_1();

  CREATE FUNCTION {s}.batch_changed_1() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO {s}.changes (tenant, batch_id, position) SELECT c.tenant, c.batch_id, c.position FROM {s}.calls c
    WHERE c.tenant = NEW.tenant AND c.batch_id = NEW.id AND c.finished_at IS NULL ORDER BY c.number;
    RETURN NULL;
  END $$;
  CREATE TRIGGER batch_changed AFTER UPDATE OF decision ON {s}.batches
  FOR EACH ROW EXECUTE FUNCTION {s}.batch_changed_1();
`;
