import { flag, json, literal, orNull, type Row, table, text } from './table.js';

/** The tunnel by which other machines reach this daemon. There is at most one row. */
export const tunnelTable = table('tunnel', {
  id: literal<'tunnel'>(),
  provider: literal<'cloudflared' | 'ngrok' | 'tailscale' | 'ssh' | 'proxy'>(),
  /** The provider's settings as JSON, none of them secret. */
  settings: json(),
  /** The permanent address, as an origin. null: none, or a setting of the daemon states it. */
  public_url: orNull(text),
  token_sealed: orNull(text),
  /** A vault entry that replaces a token of its own. */
  credential_id: orNull(text),
  is_on: flag,
  /** The id and start time of the tunnel's process, as JSON. */
  process: orNull(json()),
  updated_at: text,
});
export type TunnelRow = Row<typeof tunnelTable>;

/** The last check of the public address of this daemon. There is at most one row. */
export const tunnelReachTable = table('tunnel_reach', {
  id: literal<'reach'>(),
  address: text,
  is_ok: flag,
  checked_at: text,
});
export type TunnelReachRow = Row<typeof tunnelReachTable>;
