import type { Contract, Endpoint } from './kernel/endpoint.js';
import { agents } from './resources/agents/contract.js';
import { approvals } from './resources/approvals/contract.js';
import { audit } from './resources/audit/contract.js';
import { auth } from './resources/auth/contract.js';
import { backups } from './resources/backups/contract.js';
import { channels } from './resources/channels/contract.js';
import { chat } from './resources/chat/contract.js';
import { clitools } from './resources/clitools/contract.js';
import { doctor } from './resources/doctor/contract.js';
import { experts } from './resources/experts/contract.js';
import { health } from './resources/health/contract.js';
import { hooks } from './resources/hooks/contract.js';
import { keys } from './resources/keys/contract.js';
import { logins } from './resources/logins/contract.js';
import { logs } from './resources/logs/contract.js';
import { messengers } from './resources/messengers/contract.js';
import { models } from './resources/models/contract.js';
import { notifications } from './resources/notifications/contract.js';
import { outbox } from './resources/outbox/contract.js';
import { overview } from './resources/overview/contract.js';
import { passkeys } from './resources/passkeys/contract.js';
import { permissions } from './resources/permissions/contract.js';
import { platforms } from './resources/platforms/contract.js';
import { providers } from './resources/providers/contract.js';
import { receivers } from './resources/receivers/contract.js';
import { sessions } from './resources/sessions/contract.js';
import { skills } from './resources/skills/contract.js';
import { tokens } from './resources/tokens/contract.js';
import { totp } from './resources/totp/contract.js';
import { tunnel } from './resources/tunnel/contract.js';
import { unbuilt } from './resources/unbuilt/contract.js';
import { users } from './resources/users/contract.js';
import { vault } from './resources/vault/contract.js';
import { webhooks } from './resources/webhooks/contract.js';

/** The whole API on one page: every contract, in the order of the API document. */
export const resources: { name: string; contract: Contract }[] = [
  { name: 'health', contract: health },
  { name: 'overview', contract: overview },
  { name: 'logs', contract: logs },
  { name: 'doctor', contract: doctor },
  { name: 'auth', contract: auth },
  { name: 'logins', contract: logins },
  { name: 'tokens', contract: tokens },
  { name: 'keys', contract: keys },
  { name: 'totp', contract: totp },
  { name: 'passkeys', contract: passkeys },
  { name: 'receivers', contract: receivers },
  { name: 'hooks', contract: hooks },
  { name: 'agents', contract: agents },
  { name: 'experts', contract: experts },
  { name: 'chat', contract: chat },
  { name: 'approvals', contract: approvals },
  { name: 'permissions', contract: permissions },
  { name: 'skills', contract: skills },
  { name: 'sessions', contract: sessions },
  { name: 'models', contract: models },
  { name: 'clitools', contract: clitools },
  { name: 'providers', contract: providers },
  { name: 'notifications', contract: notifications },
  { name: 'channels', contract: channels },
  { name: 'messengers', contract: messengers },
  { name: 'platforms', contract: platforms },
  { name: 'outbox', contract: outbox },
  { name: 'audit', contract: audit },
  { name: 'backups', contract: backups },
  { name: 'users', contract: users },
  { name: 'vault', contract: vault },
  { name: 'webhooks', contract: webhooks },
  { name: 'tunnel', contract: tunnel },
  { name: 'unbuilt', contract: unbuilt },
];

export const endpoints: Endpoint[] = resources.flatMap(({ contract }) => Object.values(contract));
