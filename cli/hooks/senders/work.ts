import { EVENTS_OF_HOOK, type SenderSettings } from './code.js';

const SIGNING_SECRET = 'the Signing secret (whsec_…) of the endpoint';

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
      'Slack also signs its first request: store the secret in the hook before you ' +
        'enter the URL.',
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
    facts: { Event: 'the event for this hook', Format: 'JSON', URL: '{url}' },
    theirs: 'the text below the list: “Your webhooks will be signed with …”',
    notes: ['For an app: the client secret of the app.'],
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
    notes: ['Start here, so that the token is received: adjutant hooks await-token <hook>'],
  },
  zoom: {
    label: 'Zoom',
    where: 'marketplace.zoom.us → Manage → app → Features → Access → Event Subscriptions',
    facts: { 'Event notification endpoint URL': '{url}', 'Event types': EVENTS_OF_HOOK },
    theirs: 'the Secret Token of the page',
    notes: ['Store the secret in the hook before you choose Validate.'],
  },
  discord: {
    label: 'Discord webhook events',
    where: 'discord.com/developers → Applications → app → Webhooks',
    facts: { 'Endpoint URL': '{url}', Events: EVENTS_OF_HOOK },
    theirs: 'the Public Key under General Information',
    notes: ['Store the key in the hook before you save: Discord tests the address at once.'],
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
    notes: ['Twilio also signs the address: enter it exactly like this.'],
  },
  sns: {
    label: 'Amazon SNS',
    where: 'AWS Console → Amazon SNS → topic → Create subscription',
    facts: { Protocol: 'HTTPS', Endpoint: '{url}', 'Enable raw message delivery': 'off' },
    notes: [
      'Amazon signs with its own key, so there is no secret. The subscription is ' +
        'confirmed automatically.',
    ],
  },
  'microsoft-graph': {
    label: 'Microsoft Graph',
    where: 'its API: POST https://graph.microsoft.com/v1.0/subscriptions',
    facts: {
      notificationUrl: '{url}',
      changeType: 'created,updated,deleted',
      resource: 'the resource for this hook',
      clientState: '{secret}',
    },
  },
  'standard-webhooks': {
    label: 'Standard Webhooks',
    where: 'the webhook settings of the sender',
    facts: { 'Endpoint URL': '{url}', Events: EVENTS_OF_HOOK },
    theirs: SIGNING_SECRET,
  },
  svix: {
    label: 'Svix (Clerk, Resend and others)',
    where: 'the webhook settings of the sender → Add Endpoint',
    facts: { 'Endpoint URL': '{url}', 'Subscribe to events': EVENTS_OF_HOOK },
    theirs: SIGNING_SECRET,
  },
  basic: {
    label: 'HTTP Basic',
    where: 'the webhook settings of the sender',
    facts: { URL: '{url}', 'User name and password': '{secret}, before and after its colon' },
    theirs: 'user:password of your choice',
  },
  other: {
    label: 'other',
    where: 'any program that sends webhooks',
    facts: {
      Address: '{url}',
      Body: 'JSON, by POST with Content-Type: application/json',
      Signature: 'X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body under the secret>',
      Secret: '{secret}',
    },
    notes: [
      'Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature) also works.',
      'Another signature? Describe it: adjutant help signatures',
      'No signature? Send the header X-Webhook-Secret to {incoming}',
    ],
  },
} satisfies Record<string, SenderSettings>;
