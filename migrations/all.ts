import { accounts } from './0010_accounts.js';
import { jobs } from './0020_jobs.js';
import { hooks } from './0030_hooks.js';
import { agents } from './0040_agents.js';
import { notifications } from './0050_notifications.js';
import { passkeys } from './0060_passkeys.js';
import { totp } from './0070_totp.js';

/** Every step of the schema, oldest first. A landed migration is never changed. */
export const migrations = [accounts, jobs, hooks, agents, notifications, passkeys, totp];
