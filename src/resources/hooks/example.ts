/**
 * A hook as the API document shows it. Its secret is known to everybody: it only notifies, and a hook
 * of one's own takes a secret of its own.
 */
export const newHookExample = {
  name: 'example-issues',
  trigger: 'webhook',
  triggerConfig: {
    webhookPath: 'example-issues',
    webhookSecret: 'an example: never use it in earnest',
  },
  action: 'notify',
  actionConfig: { notifyMessage: 'A delivery came: {{webhook.body}}' },
};
