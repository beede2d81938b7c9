-- Every match that was ever proposed or complete. A row is as of the match's newest version.
CREATE TABLE muster_matches (
    realm         text        NOT NULL,
    id            text        NOT NULL,
    world         text        NOT NULL DEFAULT '',
    state         text        NOT NULL, -- proposed, allocating, complete, cancelled, ended
    reason        text        NOT NULL DEFAULT '', -- why it is cancelled or ended
    version       bigint      NOT NULL, -- orders what is known of a match; 0: only its end is known
    epoch         bigint      NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    ends_at       timestamptz,
    accept_by     timestamptz,
    proposed_at   timestamptz,
    allocating_at timestamptz,
    completed_at  timestamptz,
    ended_at      timestamptz, -- cancelled or ended
    rooms         jsonb       NOT NULL DEFAULT '{}', -- name to uuid
    endpoint      json, -- what the allocator gave, as it gave it: jsonb refuses some of what JSON allows
    open_seats    integer     NOT NULL DEFAULT 0,
    taken_seats   integer     NOT NULL DEFAULT 0,
    record        text        NOT NULL DEFAULT '', -- as Redis had it
    PRIMARY KEY (realm, id)
);

CREATE INDEX muster_matches_created ON muster_matches (realm, created_at DESC, id DESC);
CREATE INDEX muster_matches_open ON muster_matches (realm, id) WHERE state = 'complete';

-- Who is or was in a match. One whose version is below the match's was in it once.
CREATE TABLE muster_match_players (
    realm    text    NOT NULL,
    match    text    NOT NULL,
    player   text    NOT NULL,
    seat     integer NOT NULL,
    accepted boolean NOT NULL,
    shown    boolean NOT NULL,
    gone     boolean NOT NULL, -- left the match
    version  bigint  NOT NULL, -- of the match, when it last had the player
    PRIMARY KEY (realm, match, player),
    FOREIGN KEY (realm, match) REFERENCES muster_matches ON DELETE CASCADE
);

CREATE INDEX muster_match_players_player ON muster_match_players (realm, player, match);
