import { EVENTS_OF_HOOK, type SenderSettings } from './code.js';

const SIGNING_SECRET = 'the Signing secret (whsec_…) of the endpoint';

/** Senders around work, customers and money, and those that follow a standard. */
export const workSenders = {
  stripe: {
    label: 'Stripe',
    where: 'Stripe → Workbench → Webhooks → Add destination',
    facts: {
      Events: EVENTS_OF_HOOK,
      'Destination type': 'Webhook endpoint',
      'Endpoint URL': '{url}',
    },
    theirs: SIGNING_SECRET,
  },
  slack: {
    label: 'Slack',
    where: 'api.slack.com/apps → app → Event Subscriptions → Enable Events',
    facts: { 'Request URL': '{url}', 'Subscribe to bot events': EVENTS_OF_HOOK },
    theirs: 'the Signing Secret under Basic Information → App Credentials',
    notes: [
      'Slack signs its first request too: give the hook its secret before you enter the URL.',
    ],
  },
  jira: {
    label: 'Jira',
    where: 'Jira → Settings → System → WebHooks → Create a WebHook',
    facts: {
      Name: 'any name',
      Status: 'Enabled',
      URL: '{url}',
      Secret: '{secret}',
      Events: EVENTS_OF_HOOK,
    },
  },
  shopify: {
    label: 'Shopify',
    where: 'Shopify admin → Settings → Notifications → Webhooks → Create webhook',
    facts: { Event: 'the one that this hook is for', Format: 'JSON', URL: '{url}' },
    theirs: 'the text below the list: “Your webhooks will be signed with …”',
    notes: ['Of an app: the client secret of the app.'],
  },
  linear: {
    label: 'Linear',
    where: 'Linear → Settings → API → New webhook',
    facts: { Label: 'any name', URL: '{url}', 'Data change events': EVENTS_OF_HOOK },
    theirs: 'the Signing secret (lin_wh_…) of the webhook',
  },
  notion: {
    label: 'Notion',
    where: 'notion.so/profile/integrations → integration → Webhooks → Create a subscription',
    facts: { 'Webhook URL': '{url}', 'Event types': EVENTS_OF_HOOK },
    theirs: 'the verification_token, which Notion sends to the address',
    notes: ['Begin here, so that it is taken: adjutant hooks await-token <hook>'],
  },
  zoom: {
    label: 'Zoom',
    where: 'marketplace.zoom.us → Manage → app → Features → Access → Event Subscriptions',
    facts: { 'Event notification endpoint URL': '{url}', 'Event types': EVENTS_OF_HOOK },
    theirs: 'the Secret Token of the page',
    notes: ['Give the hook its secret before you choose Validate.'],
  },
  discord: {
    label: 'Discord webhook events',
    where: 'discord.com/developers → Applications → app → Webhooks',
    facts: { 'Endpoint URL': '{url}', Events: EVENTS_OF_HOOK },
    theirs: 'the Public Key under General Information',
    notes: ['Give the hook the key before you save: Discord tries the address at once.'],
  },
  typeform: {
    label: 'Typeform',
    where: 'Typeform → form → Connect → Webhooks → Add a webhook',
    facts: { Endpoint: '{url}', 'Edit, Secret': '{secret}', 'SSL verification': 'on' },
  },
  calendly: {
    label: 'Calendly',
    where: 'its API: POST https://api.calendly.com/webhook_subscriptions',
    facts: {
      url: '{url}',
      events: EVENTS_OF_HOOK,
      scope: 'user or organization',
      signing_key: '{secret}',
    },
  },
  'cal-com': {
    label: 'Cal.com',
    where: 'Cal.com → Settings → Developer → Webhooks → New',
    facts: { 'Subscriber URL': '{url}', 'Event triggers': EVENTS_OF_HOOK, Secret: '{secret}' },
  },
  twilio: {
    label: 'Twilio',
    where: 'Twilio Console → Phone Numbers → Active numbers → number → Messaging Configuration',
    facts: { 'A message comes in': 'Webhook', URL: '{url}', HTTP: 'HTTP POST' },
    theirs: 'the Auth Token of the account',
    notes: ['Twilio signs the address too: enter it exactly so.'],
  },
  sns: {
    label: 'Amazon SNS',
    where: 'AWS Console → Amazon SNS → topic → Create subscription',
    facts: { Protocol: 'HTTPS', Endpoint: '{url}', 'Enable raw message delivery': 'off' },
    notes: [
      'Amazon signs with a key of its own: there is no secret. The subscription is confirmed.',
    ],
  },
  'microsoft-graph': {
    label: 'Microsoft Graph',
    where: 'its API: POST https://graph.microsoft.com/v1.0/subscriptions',
    facts: {
      notificationUrl: '{url}',
      changeType: 'created,updated,deleted',
      resource: 'what this hook is for',
      clientState: '{secret}',
    },
  },
  'standard-webhooks': {
    label: 'Standard Webhooks',
    where: 'the settings for webhooks of the sender',
    facts: { 'Endpoint URL': '{url}', Events: EVENTS_OF_HOOK },
    theirs: SIGNING_SECRET,
  },
  svix: {
    label: 'Svix (Clerk, Resend and others)',
    where: 'the settings for webhooks of the sender → Add Endpoint',
    facts: { 'Endpoint URL': '{url}', 'Subscribe to events': EVENTS_OF_HOOK },
    theirs: SIGNING_SECRET,
  },
  basic: {
    label: 'HTTP Basic',
    where: 'the settings for webhooks of the sender',
    facts: { URL: '{url}', 'User name and password': '{secret}, before and behind its colon' },
    theirs: 'user:password, as you choose them',
  },
  other: {
    label: 'other',
    where: 'whatever sends it',
    facts: {
      Address: '{url}',
      Body: 'JSON, by POST with Content-Type: application/json',
      Signature: 'X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body under the secret>',
      Secret: '{secret}',
    },
    notes: [
      'Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature) is understood too.',
      'It signs otherwise? Describe how: adjutant help signatures',
      'It cannot sign? Then with the header X-Webhook-Secret to {incoming}',
    ],
  },
} satisfies Record<string, SenderSettings>;
