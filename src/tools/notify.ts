import * as s from '../kernel/contract/schema.js';
import { defineTool, HARMLESS, type ToolGroup } from './tool.js';

/**
 * The effect ID is the same for all retries. Resolves to false if the message is held for the
 * summary at the end of the run.
 */
export type Notify = (
  userId: string,
  message: {
    title: string;
    body: string;
    /** The body as Markdown with untrusted text escaped. */
    markdown?: string | undefined;
    effectId: string;
    agentId: string | null;
    hops?: number | undefined;
  },
) => Promise<boolean>;

const COMBINED_NOTE =
  'You have sent 20 messages in this run. This and further messages are sent as one when the run ends.';

const input = s.object('NotifySendInput', {
  message: s.text(4_000).description('Text of the notification'),
  title: s.optional(s.text(200).description('Headline. Defaults to a generic one.')),
});

/**
 * Not a side effect, because it reaches only the owner. An untrusted agent may always notify its
 * owner.
 */
export const notifyTools = (notify: Notify): ToolGroup => ({
  skillId: 'notify',
  description: 'Notifications to the owner',
  tools: [
    defineTool({
      skillId: 'notify',
      name: 'send',
      description: 'Send a notification to the owner, in the app and on every linked channel.',
      input,
      ...HARMLESS,
      markdown: 'message',
      run: async ({ message, title = 'A message from Adjutant' }, context) => {
        const { userId, markdown, effectId, agentId, hops } = context;
        const notification = { title, body: message, markdown, effectId, agentId, hops };
        const isSent = await notify(userId, notification);
        return isSent ? { notified: true } : { notified: false, note: COMBINED_NOTE };
      },
    }),
  ],
});
