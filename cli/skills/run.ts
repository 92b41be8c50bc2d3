import { type ApprovalReply, contracts } from '../../src/client/index.js';
import { approvalColumns, shortOf } from '../approvals/columns.js';
import { valueAt } from '../columns.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';

const { execute } = await contracts.skills();

/** A tool may take its time; `--timeout` says otherwise. */
const PATIENCE_MS = 600_000;

export const skillRun = command({
  name: 'run',
  aliases: ['execute'],
  args: '<tool>',
  calls: [execute],
  examples: [
    'time.now',
    `time.now --arguments '{"timezone":"Asia/Tokyo"}'`,
    'files.write --arguments @call.json',
  ],
  fields: () => requestFields(execute.body),
  notes: ['A tool is named by its skill, a dot, and its own name: adjutant skills tools'],
  seeAlso: 'adjutant approvals approve',
  run: async (context, { args, fields }) => {
    const [, skillId, toolName] = /^([^.]+)\.(.+)$/.exec(args.tool) ?? [];
    if (!skillId || !toolName)
      throw usageFault(`"${args.tool}" is no tool. One looks like time.now`);
    const body = await requestFrom(execute.body, { fields }, context.at);
    const client = await context.client();
    const patient = context.flags.timeout ? client : client.with({ timeoutMs: PATIENCE_MS });
    const reply: ToolRunReply = await patient.skills.execute({ skillId, toolName, body });
    if (reply.approval) return sayAsked(context, args.tool, reply.approval);
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.line(safe(textOf(reply.result)));
  },
});

/** The result, or with 202 the approval that the call waits for. */
interface ToolRunReply {
  result?: unknown;
  approval?: ApprovalReply;
}

const sayAsked = ({ out }: Context, tool: string, approval: ApprovalReply): void => {
  if (out.format !== 'table') out.item(approval, approvalColumns);
  out.note(`${safe(tool)} waits for your word: adjutant approvals approve ${shortOf(approval)}`);
  out.note(`Then run it again as it is, with --approval-id ${approval.id}`);
};

/** The text of a result, or the result as JSON. */
const textOf = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const text = valueAt(result, 'text');
  return typeof text === 'string' ? text : JSON.stringify(result, null, 2);
};
