import type { BodyForm, SignatureRecipe } from './recipe.js';

const JSON_ONLY: BodyForm[] = ['json'];
const JSON_OR_FORM: BodyForm[] = ['json', 'form'];

const hmac = (
  header: string,
  more: Partial<SignatureRecipe> & Pick<SignatureRecipe, 'idFrom' | 'eventFrom'>,
): SignatureRecipe => ({
  header,
  algorithm: 'sha256',
  encoding: 'hex',
  signed: '{body}',
  bodies: JSON_ONLY,
  ...more,
});

const VERSION_0 = { prefix: 'v0=', signed: 'v0:{timestamp}:{body}' };

/** Also used by hooks without `verify`. */
export const GITHUB_GREETING = { event: 'ping', sender: 'GitHub' };

export const PRESETS = {
  github: hmac('x-hub-signature-256', {
    prefix: 'sha256=',
    idFrom: 'headers.x-github-delivery',
    eventFrom: 'headers.x-github-event',
    bodies: JSON_OR_FORM,
    greeting: GITHUB_GREETING,
  }),
  gitlab: {
    header: 'x-gitlab-token',
    algorithm: 'token',
    idFrom: 'headers.idempotency-key',
    eventFrom: 'headers.x-gitlab-event',
    bodies: JSON_ONLY,
  },
  gitea: hmac('x-gitea-signature', {
    idFrom: 'headers.x-gitea-delivery',
    eventFrom: 'headers.x-gitea-event',
  }),
  gogs: hmac('x-gogs-signature', {
    idFrom: 'headers.x-gogs-delivery',
    eventFrom: 'headers.x-gogs-event',
  }),
  'bitbucket-cloud': hmac('x-hub-signature', {
    prefix: 'sha256=',
    idFrom: 'headers.x-request-uuid',
    eventFrom: 'headers.x-event-key',
  }),
  'bitbucket-server': hmac('x-hub-signature', {
    prefix: 'sha256=',
    idFrom: 'headers.x-request-id',
    eventFrom: 'headers.x-event-key',
    greeting: { event: 'diagnostics:ping', sender: 'Bitbucket Data Center' },
  }),
  jira: hmac('x-hub-signature', {
    prefix: 'sha256=',
    idFrom: 'headers.x-atlassian-webhook-identifier',
    eventFrom: 'body.webhookEvent',
  }),
  stripe: hmac('stripe-signature', {
    format: 'pairs',
    parts: { timestamp: 't', signature: 'v1' },
    signed: '{timestamp}.{body}',
    idFrom: 'body.id',
    eventFrom: 'body.type',
  }),
  'standard-webhooks': hmac('webhook-signature', {
    format: 'list',
    prefix: 'v1,',
    encoding: 'base64',
    key: 'whsec',
    timestampHeader: 'webhook-timestamp',
    signed: '{id}.{timestamp}.{body}',
    idFrom: 'headers.webhook-id',
    eventFrom: 'body.type',
  }),
  svix: hmac('svix-signature', {
    format: 'list',
    prefix: 'v1,',
    encoding: 'base64',
    key: 'whsec',
    timestampHeader: 'svix-timestamp',
    signed: '{id}.{timestamp}.{body}',
    idFrom: 'headers.svix-id',
    eventFrom: 'body.type',
  }),
  linear: hmac('linear-signature', {
    idFrom: 'headers.linear-delivery',
    eventFrom: 'headers.linear-event',
    timestampFrom: 'body.webhookTimestamp',
  }),
  sentry: hmac('sentry-hook-signature', {
    idFrom: 'headers.request-id',
    eventFrom: 'headers.sentry-hook-resource',
  }),
  shopify: hmac('x-shopify-hmac-sha256', {
    encoding: 'base64',
    idFrom: 'headers.x-shopify-webhook-id',
    eventFrom: 'headers.x-shopify-topic',
  }),
  pagerduty: hmac('x-pagerduty-signature', {
    format: 'list',
    prefix: 'v1=',
    idFrom: 'body.event.id',
    eventFrom: 'body.event.event_type',
    greeting: { event: 'pagey.ping', sender: 'PagerDuty' },
  }),
  slack: hmac('x-slack-signature', {
    ...VERSION_0,
    timestampHeader: 'x-slack-request-timestamp',
    idFrom: 'body.event_id',
    eventFrom: 'body.event.type',
    bodies: JSON_OR_FORM,
    handshake: 'slack',
  }),
  grafana: hmac('x-grafana-alerting-signature', { idFrom: undefined, eventFrom: 'body.status' }),
  zoom: hmac('x-zm-signature', {
    ...VERSION_0,
    timestampHeader: 'x-zm-request-timestamp',
    // Zoom's tracking ID identifies a request, which may have several events.
    idFrom: undefined,
    eventFrom: 'body.event',
    handshake: 'zoom',
  }),
  notion: hmac('x-notion-signature', {
    prefix: 'sha256=',
    idFrom: 'body.id',
    eventFrom: 'body.type',
    handshake: 'notion',
  }),
  typeform: hmac('typeform-signature', {
    prefix: 'sha256=',
    encoding: 'base64',
    idFrom: 'body.event_id',
    eventFrom: 'body.event_type',
  }),
  calendly: hmac('calendly-webhook-signature', {
    format: 'pairs',
    parts: { timestamp: 't', signature: 'v1' },
    signed: '{timestamp}.{body}',
    idFrom: undefined,
    eventFrom: 'body.event',
  }),
  'cal-com': hmac('x-cal-signature-256', {
    idFrom: undefined,
    eventFrom: 'body.triggerEvent',
    greeting: { event: 'PING', sender: 'Cal.com' },
  }),
  circleci: hmac('circleci-signature', {
    format: 'list',
    prefix: 'v1=',
    idFrom: 'body.id',
    eventFrom: 'headers.circleci-event-type',
    greeting: { event: 'ping', sender: 'CircleCI' },
  }),
  buildkite: hmac('x-buildkite-signature', {
    format: 'pairs',
    parts: { timestamp: 'timestamp', signature: 'signature' },
    signed: '{timestamp}.{body}',
    idFrom: 'headers.x-buildkite-request',
    eventFrom: 'headers.x-buildkite-event',
    greeting: { event: 'ping', sender: 'Buildkite' },
  }),
  vercel: hmac('x-vercel-signature', {
    algorithm: 'sha1',
    idFrom: 'body.id',
    eventFrom: 'body.type',
  }),
  discord: {
    header: 'x-signature-ed25519',
    algorithm: 'ed25519',
    encoding: 'hex',
    timestampHeader: 'x-signature-timestamp',
    signed: '{timestamp}{body}',
    eventFrom: 'body.event.type',
    bodies: JSON_ONLY,
    handshake: 'discord',
  },
  twilio: {
    header: 'x-twilio-signature',
    algorithm: 'sha1',
    encoding: 'base64',
    signed: '{url}{form}',
    idFrom: 'headers.i-twilio-idempotency-token',
    bodies: JSON_OR_FORM,
  },
  sns: {
    header: 'x-amz-sns-message-type',
    algorithm: 'sns',
    idFrom: 'body.MessageId',
    eventFrom: 'body.Type',
    bodies: JSON_ONLY,
    isAlwaysJson: true,
    handshake: 'sns',
  },
  'microsoft-graph': {
    header: 'content-type',
    algorithm: 'client-state',
    idFrom: undefined,
    eventFrom: 'body.value.0.changeType',
    bodies: JSON_ONLY,
    handshake: 'graph',
  },
  basic: { header: 'authorization', algorithm: 'basic' },
} satisfies Record<string, SignatureRecipe>;

export type PresetName = keyof typeof PRESETS;
const isPreset = (name: string): name is PresetName => Object.hasOwn(PRESETS, name);
export const PRESET_NAMES = Object.keys(PRESETS).filter(isPreset);
