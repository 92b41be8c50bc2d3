/** Settings of a webhook at its sender, in the words of the sender's own pages. */
export interface SenderSettings {
  label: string;
  /** Path to the form. */
  where: string;
  /** Fields by name. `{url}` is the address of the hook, `{secret}` says where the secret is. */
  facts: Record<string, string>;
  /** Where the sender shows the secret, if the sender generates it. */
  theirs?: string;
  /** Further lines; `<hook>` is the hook. */
  notes?: string[];
}

export const EVENTS_OF_HOOK = 'the events for this hook';

export const codeSenders = {
  github: {
    label: 'GitHub',
    where: 'GitHub → repository → Settings → Webhooks → Add webhook',
    facts: {
      'Payload URL': '{url}',
      'Content type': 'application/json',
      Secret: '{secret}',
      'SSL verification': 'enabled',
      Events: EVENTS_OF_HOOK,
    },
    notes: ['Then save. GitHub sends a ping, which is listed as a skipped execution.'],
  },
  gitlab: {
    label: 'GitLab',
    where: 'GitLab → project → Settings → Webhooks → Add new webhook',
    facts: {
      URL: '{url}',
      'Secret token': '{secret}',
      Trigger: 'the events for this hook',
      'SSL verification': 'enabled',
    },
    notes: [
      'With a Secret token, GitLab sends the secret in a header: always use TLS.',
      'Better, if its form has a Signing token: generate one, and have it verified:',
      'adjutant hooks update <hook> --verify standard-webhooks --secret-file -',
    ],
  },
  gitea: {
    label: 'Gitea, Forgejo',
    where: 'Gitea → repository → Settings → Webhooks → Add webhook → Gitea',
    facts: {
      'Target URL': '{url}',
      'HTTP Method': 'POST',
      'POST Content Type': 'application/json',
      Secret: '{secret}',
      'Trigger On': 'the events for this hook',
    },
    notes: ['Then save, and test it there: Test Delivery.'],
  },
  gogs: {
    label: 'Gogs',
    where: 'Gogs → repository → Settings → Webhooks → Add a new webhook → Gogs',
    facts: {
      'Payload URL': '{url}',
      'Content Type': 'application/json',
      Secret: '{secret}',
      Events: EVENTS_OF_HOOK,
    },
  },
  'bitbucket-cloud': {
    label: 'Bitbucket Cloud',
    where: 'Bitbucket → repository → Repository settings → Webhooks → Add webhook',
    facts: {
      Title: 'any name',
      URL: '{url}',
      Secret: '{secret}',
      Status: 'Active',
      Triggers: 'the events for this hook',
    },
  },
  'bitbucket-server': {
    label: 'Bitbucket Data Center',
    where: 'Bitbucket → repository → Repository settings → Webhooks → Create webhook',
    facts: { Name: 'any name', URL: '{url}', Secret: '{secret}', Events: EVENTS_OF_HOOK },
    notes: ['Test it there: Test connection.'],
  },
  circleci: {
    label: 'CircleCI',
    where: 'CircleCI → project → Project Settings → Webhooks → Add Webhook',
    facts: {
      'Webhook name': 'any name',
      'Receiver URL': '{url}',
      'Secret token': '{secret}',
      'Certificate verification': 'enabled',
      'Select an event': EVENTS_OF_HOOK,
    },
  },
  buildkite: {
    label: 'Buildkite',
    where: 'Buildkite → Settings → Notification Services → Add → Webhook',
    facts: {
      Description: 'any name',
      'Webhook URL': '{url}',
      Token: 'Send an HMAC signature in the X-Buildkite-Signature header',
      Events: EVENTS_OF_HOOK,
    },
    theirs: 'the Token of the form',
  },
  vercel: {
    label: 'Vercel',
    where: 'Vercel → team → Settings → Webhooks → Create Webhook',
    facts: { Events: EVENTS_OF_HOOK, Projects: 'yours', 'Endpoint URL': '{url}' },
    theirs: 'the secret that Vercel shows once after Create Webhook',
  },
  sentry: {
    label: 'Sentry',
    where: 'Sentry → Settings → Custom Integrations → Create New Integration → Internal',
    facts: { Name: 'any name', 'Webhook URL': '{url}', Webhooks: EVENTS_OF_HOOK },
    theirs: 'the Client Secret under Credentials',
  },
  grafana: {
    label: 'Grafana Alerting',
    where: 'Grafana → Alerting → Contact points → Create contact point → Webhook',
    facts: {
      URL: '{url}',
      'HTTP Method': 'POST',
      'HMAC Signature, Secret': '{secret}',
      'HMAC Signature, Header': 'X-Grafana-Alerting-Signature',
      'HMAC Signature, Timestamp Header': 'empty',
    },
    notes: ['Test it there: Test.'],
  },
  pagerduty: {
    label: 'PagerDuty',
    where: 'PagerDuty → Integrations → Generic Webhooks (v3) → New Webhook',
    facts: {
      'Webhook URL': '{url}',
      'Scope Type': 'Service, Team or Account',
      'Event Subscription': EVENTS_OF_HOOK,
    },
    theirs: 'the secret that PagerDuty shows once after Add Webhook',
  },
} satisfies Record<string, SenderSettings>;
