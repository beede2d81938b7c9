-- What is to be told to others, a row for each event and address.
CREATE TABLE muster_outbox (
    realm      text        NOT NULL,
    event      text        NOT NULL, -- the same however often the event comes
    url        text        NOT NULL,
    type       text        NOT NULL,
    body       text        NOT NULL,
    state      text        NOT NULL DEFAULT 'pending', -- pending, delivered, dead
    attempts   integer     NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    done_at    timestamptz, -- delivered or dead
    error      text        NOT NULL DEFAULT '', -- of the last attempt
    PRIMARY KEY (realm, event, url)
);

CREATE INDEX muster_outbox_due ON muster_outbox (realm, url, due_at) WHERE state = 'pending';
CREATE INDEX muster_outbox_done ON muster_outbox (realm, state, done_at) WHERE state <> 'pending';
