import { accounts } from './0010_accounts.js';
import { jobs } from './0020_jobs.js';
import { hooks } from './0030_hooks.js';
import { agents } from './0040_agents.js';
import { notifications } from './0050_notifications.js';
import { passkeys } from './0060_passkeys.js';
import { totp } from './0070_totp.js';
import { audit } from './0080_audit.js';
import { tokens } from './0090_tokens.js';
import { users } from './0100_users.js';
import { channels } from './0110_channels.js';
import { models } from './0120_models.js';
import { permissions } from './0130_permissions.js';
import { skills } from './0140_skills.js';
import { experts } from './0150_experts.js';
import { vault } from './0170_vault.js';
import { outbox } from './0180_outbox.js';
import { platforms } from './0190_platforms.js';
import { preferences } from './0200_preferences.js';
import { webhooks } from './0210_webhooks.js';
import { tunnel } from './0230_tunnel.js';
import { backups } from './0250_backups.js';
import { claims } from './0260_claims.js';
import { logins } from './0270_logins.js';
import { lookalikes } from './0280_lookalikes.js';
import { hops } from './0290_hops.js';
import { reservations } from './0300_reservations.js';
import { auditHeads } from './0310_auditheads.js';
import { tunnelReach } from './0330_tunnelreach.js';

/** Every step of the schema, oldest first. A landed migration is never changed. */
export const migrations = [
  accounts,
  jobs,
  hooks,
  agents,
  notifications,
  passkeys,
  totp,
  audit,
  tokens,
  users,
  channels,
  models,
  permissions,
  skills,
  experts,
  vault,
  outbox,
  platforms,
  preferences,
  webhooks,
  tunnel,
  backups,
  claims,
  logins,
  lookalikes,
  hops,
  reservations,
  auditHeads,
  tunnelReach,
];
