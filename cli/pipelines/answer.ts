import { contracts } from '../../src/client/index.js';
import { command, textFlag } from '../command.js';
import { safe } from '../text.js';
import { getInputFields, questionLines, waitingStage } from './advice.js';
import { runColumns, runCrud } from './run.js';
import { askValues, valuesFrom } from './values.js';

const endpoints = await contracts.pipelines();

const answer = (name: 'approve' | 'reject') =>
  command({
    name,
    args: '<run> <stage>',
    calls: [endpoints[name], endpoints.get],
    examples: [
      `4ew6rt publish`,
      `4ew6rt publish --reason "As agreed" --yes`,
      `4ew6rt publish --yes --json`,
    ],
    flags: { reason: textFlag('<text>', 'Reason, shown in the run') },
    run: async (context, { args, flags: { reason } }) => {
      const { client, id } = await runCrud.find(context, args.run);
      const question = await waitingStage(client, { id, key: args.stage, is: 'approval' });
      const { digest } = question;
      for (const line of questionLines(question)) context.out.note(line);
      await context.ask.confirm(`${name === 'approve' ? 'Approve' : 'Reject'} this?`);
      const body = { digest, ...(reason !== undefined && { reason }) };
      const done = await client.pipelines[name]({ id, key: args.stage, body });
      const verb = name === 'approve' ? 'Approved' : 'Rejected';
      context.out.done(`${verb} ${safe(args.stage)}.`, done, runColumns);
    },
  });

const input = command({
  name: 'input',
  args: '<run> <stage> [values...]',
  calls: [endpoints.input, endpoints.get],
  examples: [
    '4ew6rt form title=Spring',
    '4ew6rt form text=@letter.txt',
    '4ew6rt form size=l --json',
  ],
  run: async (context, { args }) => {
    const { client, id } = await runCrud.find(context, args.run);
    const question = await waitingStage(client, { id, key: args.stage, is: 'input' });
    const { digest } = question;
    const fields = getInputFields(question.input);
    const isGuided = args.values.length === 0;
    if (isGuided) for (const line of questionLines(question)) context.out.note(line);
    const values = isGuided
      ? await askValues(context, fields)
      : await valuesFrom(context, args.values, fields);
    const done = await client.pipelines.input({ id, key: args.stage, body: { digest, values } });
    context.out.done(`Submitted the values for ${safe(args.stage)}.`, done, runColumns);
  },
});

export const answerCommands = [answer('approve'), answer('reject'), input];
