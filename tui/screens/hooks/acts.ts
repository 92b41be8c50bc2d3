import type { Execution, Hook, HookReply } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { type Act, actTarget, reportDone } from '../../state/act.js';
import { possibleActs } from '../list.js';

export const hookGist = ({ error, result, agentId }: Execution): string => {
  if (error) return error;
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && 'text' in result) return String(result.text);
  if (result !== null && result !== undefined) return JSON.stringify(result);
  return agentId ? `agent ${agentId.slice(-6)}` : '';
};

export const hookActs = ({ id, name, enabled, stats }: Hook): Acts =>
  possibleActs<Act>({
    start: !enabled && {
      ...actTarget('hooks', id),
      text: `Enable hook ${name}`,
      line: `adjutant hooks enable ${id}`,
      doing: 'enabling…',
      call: ({ hooks }) => reportDone(hooks.enable({ id }), `${name} is enabled`),
    },
    pause: enabled && {
      ...actTarget('hooks', id),
      text: `Disable hook ${name}`,
      line: `adjutant hooks disable ${id}`,
      doing: 'disabling…',
      call: ({ hooks }) => reportDone(hooks.disable({ id }), `${name} is disabled`),
    },
    test: {
      ...actTarget('hooks', id, 'executions'),
      text: `Test hook ${name}`,
      line: `adjutant hooks test ${id}`,
      doing: 'testing…',
      ask: { lines: [`Run ${name} now with the payload {}? The action takes effect.`] },
      call: async ({ hooks }) => {
        const reply = await hooks.test({ id, body: { payload: {} } });
        if (!('id' in reply)) return { message: 'The hook was not run', tone: 'warn' };
        if (reply.status === 'skipped')
          return { message: `Skipped: ${hookGist(reply)}`, tone: 'warn' };
        return `Started execution ${reply.id.slice(-6)}`;
      },
    },
    delete: {
      ...actTarget('hooks', id),
      text: `Delete hook ${name}`,
      line: `adjutant hooks delete ${id}`,
      doing: 'deleting…',
      ask: {
        lines: [
          `Delete hook ${name}? Its ${stats.executions} executions are deleted too.`,
          'Senders are refused at once. There is no undo.',
        ],
        name,
      },
      call: ({ hooks }) => reportDone(hooks.delete({ id }), `${name} is deleted`),
    },
  });

/** Absent for a reply that is queued, under way or posted, or that has no object. */
export const resendReplyAct = ({ id, hookId, object, status }: HookReply): Act | false =>
  object !== null &&
  (status === 'failed' || status === 'unknown') && {
    ...actTarget('replies', id),
    text: `Resend reply to ${object}`,
    line: `adjutant hooks resend-reply ${hookId} ${id}`,
    doing: 'resending…',
    ask: {
      lines: [
        `Post the reply to ${object} again?`,
        ...(status === 'unknown' ? ['It may have been posted already. Check it first.'] : []),
      ],
    },
    call: ({ hooks }) =>
      reportDone(hooks['resend-reply']({ id: hookId, replyId: id }), 'The reply is queued again'),
  };

export const replayAct = ({ id, hookId }: Execution): Act => ({
  ...actTarget('executions', id),
  text: `Replay execution ${id.slice(-6)}`,
  line: `adjutant hooks replay ${hookId} ${id}`,
  doing: 'replaying…',
  ask: { lines: [`Run ${id.slice(-6)} again with its original payload?`] },
  call: async ({ hooks }) => {
    const again = await hooks.replay({ id: hookId, executionId: id, body: {} });
    return `Started execution ${again.id.slice(-6)}`;
  },
});
