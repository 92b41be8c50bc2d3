import Boom from '@hapi/boom';
import { type Caller, CustomReply, type RequestContext } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import { version } from '../../version.js';
import { health, type PartReport } from './contract.js';

export interface HealthDeps {
  uptimeSeconds(): number;
  isDraining(): boolean;
  parts(): Promise<PartReport[]>;
  /** In Prometheus' text format. */
  metrics(): Promise<string>;
  /** True if no other machine can appear to be local. */
  trustsLoopback(): boolean;
}

/** Parts that are required to accept work. */
const NEEDED = ['database', 'queue'];
const ORDER = { ok: 0, warn: 1, down: 2 };

export const healthResource = (deps: HealthDeps) =>
  resource('health', health, {
    get: async () => ({
      status: 'ok' as const,
      version,
      uptimeSeconds: deps.uptimeSeconds(),
    }),
    live: async () => ({ status: 'live' as const }),
    ready: async () => {
      const parts = deps.isDraining() ? [] : await deps.parts();
      const failing = parts
        .filter(({ name, status }) => status === 'down' && NEEDED.includes(name))
        .map(({ name }) => name);
      if (deps.isDraining()) failing.push('draining');
      return failing.length === 0
        ? { status: 'ready' as const, failing }
        : new CustomReply(503, { status: 'not_ready' as const, failing });
    },
    detailed: async (_input, by) => {
      const parts = await deps.parts();
      const worst = parts.reduce<PartReport['status']>(
        (found, { status }) => (ORDER[status] > ORDER[found] ? status : found),
        'ok',
      );
      return {
        status: worst,
        version,
        uptimeSeconds: deps.uptimeSeconds(),
        parts: isKnown(by) ? parts : parts.map((part) => ({ ...part, detail: '' })),
      };
    },
    metrics: async (_input, by) => {
      if (!isKnown(by) && !(deps.trustsLoopback() && by.isLocal)) {
        throw Boom.unauthorized(
          'Metrics require an access token. Send the header Authorization: Bearer <token>. A request without a token must come from the machine of the daemon, and the daemon must have no tunnel, public address or trusted proxy',
          'Bearer',
        );
      }
      return deps.metrics();
    },
  });

const isKnown = (by: RequestContext & Partial<Caller>): boolean => by.userId !== undefined;
