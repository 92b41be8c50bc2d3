import { contracts, type PipelineTemplate } from '../../src/client/index.js';
import { isSameName } from '../../src/kernel/normalform.js';
import { type Context, command, textFlag } from '../command.js';
import { orgField, orgInput } from '../fields.js';
import { oneLine } from '../text.js';
import { shortId } from './advice.js';
import { answerCommands } from './answer.js';
import { FOLLOW_NOTE, followFlag, followRun } from './follow.js';
import { runColumns, runCrud, showRun } from './run.js';
import { templateCrud } from './templates.js';
import { askValues, valuesFrom } from './values.js';

const endpoints = await contracts.pipelines();

const askTemplate = async (context: Context): Promise<string> => {
  const { ask } = context;
  const instead = 'the name of a template';
  const client = await context.client();
  const { templates } = ask.isPossible
    ? await client.templates.list({ query: { limit: 200 } })
    : { templates: [] };
  for (const [at, { name, description }] of templates.entries()) {
    ask.say(oneLine(`${at + 1}  ${name}${description === null ? '' : `   ${description}`}`));
  }
  const findTemplate = (typed: string) =>
    /^\d+$/.test(typed)
      ? templates[Number(typed) - 1]
      : // The user's own template comes before a preset of the same name.
        templates
          .filter(({ id, name }) => isSameName(name, typed) || id === typed)
          .sort(ownFirst)[0];
  const refuse = (typed: string) =>
    findTemplate(typed) ? undefined : `Enter a number from 1 to ${templates.length}, or a name.`;
  const chosen = await ask.text({ ask: 'Template', initial: '1', instead, refuse });
  return findTemplate(chosen)?.id ?? chosen;
};

const ownFirst = (one: PipelineTemplate, other: PipelineTemplate): number =>
  Number(one.preset) - Number(other.preset);

const run = command({
  name: 'run',
  args: '[template] [params...]',
  calls: [endpoints.start, endpoints.get],
  examples: [
    'preset_release_notes version=2.1 changes=@changes.txt',
    'notes what=Spring --follow',
    'notes what=Spring --name "Notes on spring" --json',
  ],
  flags: {
    follow: followFlag,
    name: textFlag('<text>', 'Name of the run. Defaults to the name of the template'),
  },
  fields: () => [orgField],
  notes: [
    'A value that begins with @ is read from a file.',
    'A run of a template of an organization belongs to the organization.',
    'On a terminal, without a template, the command asks for the template and the parameters.',
    FOLLOW_NOTE,
  ],
  run: async (context, { args, flags, fields }) => {
    const named = args.template ?? (await askTemplate(context));
    const { client, id: templateId } = await templateCrud.find(context, named);
    const { parameters }: PipelineTemplate = await client.templates.get({
      id: templateId,
      query: {},
    });
    const params =
      args.template === undefined
        ? await askValues(context, parameters)
        : await valuesFrom(context, args.params, parameters);
    const { name } = flags;
    const body = { templateId, params, ...(name !== undefined && { name }), ...orgInput(fields) };
    const begun = await client.pipelines.start({ body });
    if (flags.follow) return followRun(context, client, begun);
    const sentence = `The run is ${begun.status}. Show it: adjutant pipelines get ${shortId(begun)}`;
    context.out.done(sentence, begun, runColumns);
  },
});

const follow = command({
  name: 'follow',
  args: '<run>',
  calls: [endpoints.get],
  summary: 'Follow a run until the run ends or needs input',
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --timeout 600'],
  notes: [FOLLOW_NOTE, '^C stops following; the run continues.'],
  run: async (context, { args }) => {
    const { client, id } = await runCrud.find(context, args.run);
    await followRun(context, client, await client.pipelines.get({ id }));
  },
});

export const runCommands = [
  run,
  runCrud.list({
    examples: ['', '--status waiting', '--json'],
    next: (rows) => {
      const waits = rows.find(({ status }) => status === 'waiting');
      if (rows.length === 0) return 'No runs yet. Start one: adjutant pipelines run <template>';
      return waits && `A run is waiting: adjutant pipelines get ${shortId(waits)}`;
    },
  }),
  runCrud.request({
    name: 'get',
    args: '<run>',
    endpoint: endpoints.get,
    examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields status,error'],
    show: showRun,
  }),
  runCrud.act('stop', endpoints.stop, {
    examples: [
      '4ew6rt',
      '4ew6rt --json',
      'pipelines list --status running --output id | xargs -n1 adjutant pipelines stop',
    ],
    message: ({ name }) => `Stopped ${oneLine(name)}.`,
  }),
  runCrud.request({
    name: 'retry',
    args: '<run>',
    endpoint: endpoints.retry,
    examples: ['4ew6rt', '4ew6rt --from-stage draft', '4ew6rt --follow', '4ew6rt --json'],
    except: [],
    flags: { follow: followFlag },
    notes: [FOLLOW_NOTE],
    show: async (context, row, { flags }) => {
      if (flags.follow) return followRun(context, await context.client(), row);
      const sentence = `Retrying: ${oneLine(row.name)} is ${row.status}.`;
      context.out.done(sentence, row, runColumns);
    },
  }),
  follow,
  ...answerCommands,
];
