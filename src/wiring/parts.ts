import type { Config } from '../config.js';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Passwords } from '../kernel/password.js';
import type { LogRing } from '../kernel/ring.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { createIdentify } from '../resources/auth/identity.js';
import type { SetupCode } from '../resources/auth/setupcode.js';
import type { AuthStore } from '../resources/auth/store.js';
import type { Tickets } from '../resources/auth/tickets.js';
import type { Sockets } from '../resources/ws/door.js';
import type { createProof } from '../runtime/keys/proof.js';
import type { Rekey } from '../runtime/keys/rekey.js';
import type { secretsOf } from '../runtime/keys/secrets.js';
import type { Signer } from '../runtime/keys/signing.js';
import type { PayloadPool } from '../runtime/payloads/pool.js';
import type { Runtime } from '../runtime/runtime.js';
import type { Tunnel } from '../runtime/tunnel/tunnel.js';
import type { OutsideHeads } from '../store/audit/outside.js';
import type { Store } from '../store/store.js';

/** What the daemon is made of; each resource is handed what it needs of it. */
export interface Parts {
  config: Config;
  clock: Clock;
  store: Store;
  http: Http;
  payloads: PayloadPool;
  /** Where the heads of the audit log go beside the home. */
  heads: OutsideHeads;
  runtime: Runtime;
  sockets: Sockets;
  recent: LogRing;
  state: { isDraining: boolean; since: number };
  users: AuthStore;
  passwords: Passwords;
  signer: Signer;
  identify: ReturnType<typeof createIdentify>;
  tickets: Tickets;
  setup: SetupCode;
  secrets: ReturnType<typeof secretsOf>;
  rekey: Rekey;
  /** Whether the master key opens what is sealed. */
  prove: ReturnType<typeof createProof>;
  confinement: Confinement | null;
  tunnel: Tunnel;
  wait(ms: number): Promise<unknown>;
  /** The port that it listens on. */
  port(): number;
}
