import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const HealthPart = s.object('HealthPart', {
  name: s.text(60),
  status: s.oneOf('PartStatus', 'ok', 'warn', 'down'),
  latencyMs: s
    .nullable(s.number(0, 1_000_000))
    .description('Duration of the health check, in milliseconds. `null` if not measured'),
  detail: s
    .anyText(500)
    .description('Details of the component. Empty for requests without a token'),
});

export type PartReport = s.Static<typeof HealthPart>;

const Health = s.object('Health', {
  status: s.oneOf('HealthStatus', 'ok'),
  version: s.text(40),
  uptimeSeconds: s.integer(0, Number.MAX_SAFE_INTEGER),
});

const Readiness = s.object('Readiness', {
  status: s.oneOf('ReadyStatus', 'ready', 'not_ready'),
  failing: s.list(s.text(60)),
});

const DetailedHealth = s.object('DetailedHealth', {
  status: s.oneOf('OverallStatus', 'ok', 'warn', 'down'),
  version: s.text(40),
  uptimeSeconds: s.integer(0, Number.MAX_SAFE_INTEGER),
  parts: s.list(HealthPart),
});

export const health = contract({
  get: endpoint.get('/health', {
    summary: 'Get the health status',
    access: 'public',
    ignoresQuery: true,
    reply: Health,
  }),
  detailed: endpoint.get('/health/detailed', {
    summary: 'Get the health of each component',
    description: 'Without a valid token, the details of the components are empty.',
    access: 'optional',
    ignoresQuery: true,
    reply: DetailedHealth,
  }),
  ready: endpoint.get('/health/ready', {
    summary: 'Get the readiness status',
    description: 'Fails with 503 if the daemon does not accept work.',
    access: 'public',
    ignoresQuery: true,
    reply: Readiness,
    otherReplies: { 503: Readiness },
  }),
  live: endpoint.get('/health/live', {
    summary: 'Get the liveness status',
    description: 'A reply shows that the daemon is running and its event loop is responsive.',
    access: 'public',
    ignoresQuery: true,
    reply: s.object('Liveness', { status: s.oneOf('LiveStatus', 'live') }),
  }),
  metrics: endpoint.get('/metrics', {
    summary: 'Get metrics in Prometheus format',
    description:
      'Requires a token. Requests from the machine of the daemon need none if the daemon listens only on this machine and has no tunnel, public address or trusted proxy.',
    access: 'optional',
    reply: s.anyText(1_000_000),
    produces: 'text/plain',
  }),
});
