/** The last check of the public address, so that a restart does not forget whether it is reached. */
export const tunnelReach = {
  version: 330,
  name: 'tunnel_reach',
  sql: `
    CREATE TABLE tunnel_reach (
      id TEXT PRIMARY KEY CHECK (id = 'reach'),
      address TEXT NOT NULL,
      is_ok INTEGER NOT NULL CHECK (is_ok IN (0, 1)),
      checked_at TEXT NOT NULL
    ) STRICT;
  `,
};
