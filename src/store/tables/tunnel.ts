import { flag, json, literal, orNull, type Row, table, text } from './table.js';

/** At most one row. */
export const tunnelTable = table('tunnel', {
  id: literal<'tunnel'>(),
  provider: literal<'cloudflared' | 'ngrok' | 'tailscale' | 'ssh' | 'proxy'>(),
  settings: json(),
  /** Permanent public URL. Null if none, or set by the daemon's settings. */
  public_url: orNull(text),
  token_sealed: orNull(text),
  credential_id: orNull(text),
  is_on: flag,
  process: orNull(json()),
  updated_at: text,
});
export type TunnelRow = Row<typeof tunnelTable>;

/** Last check of the public URL. At most one row. */
export const tunnelReachTable = table('tunnel_reach', {
  id: literal<'reach'>(),
  address: text,
  is_ok: flag,
  checked_at: text,
});
export type TunnelReachRow = Row<typeof tunnelReachTable>;
