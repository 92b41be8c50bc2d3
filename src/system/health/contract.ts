import { contract } from '../../kernel/contract/endpoint.js';
import {
  amount,
  anyText,
  list,
  nullable,
  object,
  oneOf,
  text,
  whole,
} from '../../kernel/contract/schema.js';

const Part = object('HealthPart', {
  name: text(60),
  status: oneOf('PartStatus', 'ok', 'warn', 'down'),
  latencyMs: nullable(amount(0, 1_000_000)),
  detail: anyText(500),
});

const Health = object('Health', {
  status: oneOf('HealthStatus', 'ok'),
  version: text(40),
  uptimeSeconds: whole(0, Number.MAX_SAFE_INTEGER),
});

const Readiness = object('Readiness', {
  status: oneOf('ReadyStatus', 'ready', 'not_ready'),
  failing: list(text(60)),
});

const DetailedHealth = object('DetailedHealth', {
  status: oneOf('OverallStatus', 'ok', 'warn', 'down'),
  version: text(40),
  uptimeSeconds: whole(0, Number.MAX_SAFE_INTEGER),
  parts: list(Part),
});

export const health = contract({
  get: {
    method: 'GET',
    path: '/health',
    summary: 'Whether the daemon answers',
    access: 'public',
    ignoresQuery: true,
    reply: Health,
  },
  detailed: {
    method: 'GET',
    path: '/health/detailed',
    summary: 'Every part with its latency; details with a token only',
    access: 'optional',
    ignoresQuery: true,
    reply: DetailedHealth,
  },
  ready: {
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether work is taken: 503 names what fails',
    access: 'public',
    ignoresQuery: true,
    reply: Readiness,
    answers: { 503: Readiness },
  },
  live: {
    method: 'GET',
    path: '/health/live',
    summary: 'Whether the event loop turns',
    access: 'public',
    ignoresQuery: true,
    reply: object('Liveness', { status: oneOf('LiveStatus', 'live') }),
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Figures for Prometheus, for this machine or a token',
    access: 'optional',
    reply: anyText(1_000_000),
    produces: 'text/plain',
  },
});
