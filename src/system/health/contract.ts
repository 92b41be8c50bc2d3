import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const HealthPart = s.object('HealthPart', {
  name: s.text(60),
  status: s.oneOf('PartStatus', 'ok', 'warn', 'down'),
  latencyMs: s.nullable(s.amount(0, 1_000_000)),
  detail: s.anyText(500),
});

/** The report on one part of the daemon; the latency in milliseconds if the check took time. */
export type PartReport = s.Static<typeof HealthPart>;

const Health = s.object('Health', {
  status: s.oneOf('HealthStatus', 'ok'),
  version: s.text(40),
  uptimeSeconds: s.whole(0, Number.MAX_SAFE_INTEGER),
});

const Readiness = s.object('Readiness', {
  status: s.oneOf('ReadyStatus', 'ready', 'not_ready'),
  failing: s.list(s.text(60)),
});

const DetailedHealth = s.object('DetailedHealth', {
  status: s.oneOf('OverallStatus', 'ok', 'warn', 'down'),
  version: s.text(40),
  uptimeSeconds: s.whole(0, Number.MAX_SAFE_INTEGER),
  parts: s.list(HealthPart),
});

export const health = contract({
  get: endpoint.get('/health', {
    summary: 'Whether the daemon answers',
    access: 'public',
    ignoresQuery: true,
    reply: Health,
  }),
  detailed: endpoint.get('/health/detailed', {
    summary: 'Every part with its latency; details with a token only',
    access: 'optional',
    ignoresQuery: true,
    reply: DetailedHealth,
  }),
  ready: endpoint.get('/health/ready', {
    summary: 'Whether work is taken: 503 names what fails',
    access: 'public',
    ignoresQuery: true,
    reply: Readiness,
    otherReplies: { 503: Readiness },
  }),
  live: endpoint.get('/health/live', {
    summary: 'Whether the event loop turns',
    access: 'public',
    ignoresQuery: true,
    reply: s.object('Liveness', { status: s.oneOf('LiveStatus', 'live') }),
  }),
  metrics: endpoint.get('/metrics', {
    summary: 'Figures for Prometheus, for this machine or a token',
    access: 'optional',
    reply: s.anyText(1_000_000),
    produces: 'text/plain',
  }),
});
