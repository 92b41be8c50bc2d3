import type { Contract } from './kernel/endpoint.js';
import { agents } from './resources/agents/contract.js';
import { auth } from './resources/auth/contract.js';
import { health } from './resources/health/contract.js';
import { hooks } from './resources/hooks/contract.js';
import { notifications } from './resources/notifications/contract.js';
import { passkeys } from './resources/passkeys/contract.js';
import { receivers } from './resources/receivers/contract.js';
import { sessions } from './resources/sessions/contract.js';
import { totp } from './resources/totp/contract.js';
import { unbuilt } from './resources/unbuilt/contract.js';

/** The whole API on one page: every contract, in the order of the API document. */
export const resources: { name: string; contract: Contract }[] = [
  { name: 'health', contract: health },
  { name: 'auth', contract: auth },
  { name: 'totp', contract: totp },
  { name: 'passkeys', contract: passkeys },
  { name: 'receivers', contract: receivers },
  { name: 'hooks', contract: hooks },
  { name: 'agents', contract: agents },
  { name: 'sessions', contract: sessions },
  { name: 'notifications', contract: notifications },
  { name: 'unbuilt', contract: unbuilt },
];
