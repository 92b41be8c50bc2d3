import { contracts, type Reply } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import { Exit } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { modelCrud } from '../models/columns.js';
import { availableModels, modelHealth, modelKnown, modelUsage } from '../models/lists.js';
import { keyFrom, modelCreate, modelUpdate, withoutFlags } from '../models/write.js';
import { safe } from '../text.js';

const endpoints = await contracts.models();

const test = command({
  name: 'test',
  args: '[model]',
  calls: [endpoints.check, endpoints.test],
  summary: `${endpoints.check.summary}, registered or not`,
  examples: [
    'claude',
    '--provider ollama --model-id qwen3:8b',
    '--provider openai --model-id gpt-4.1 --key-file -',
  ],
  fields: () => requestFields(endpoints.test.body, withoutFlags),
  flags: { keyFile: textFlag('<file|->', 'API key of one that is not registered') },
  notes: ['Exit 1 where it does not answer. Nothing is stored.'],
  run: async (context, { args, flags, fields }) => {
    const client = await context.client();
    const untried = async () => {
      const { keyFile } = flags;
      const more = { apiKey: keyFile === undefined ? undefined : await keyFrom(context, keyFile) };
      const body = await requestFrom(endpoints.test.body, { fields, more }, context.at);
      return client.models.test({ body });
    };
    const { model } = args;
    const reply =
      model === undefined ? await untried() : await client.models.check({ name: model });
    if (!reply.ok) context.exitCode = Exit.failed;
    if (context.out.format !== 'table') return context.out.item(reply, probeColumns);
    const said = reply.ok ? `answered "${safe(reply.reply ?? '')}"` : safe(reply.error ?? '');
    context.out.line(`${reply.ok ? 'ok' : 'FAIL'}  ${said}, ${reply.latencyMs} ms`);
  },
});

type ModelTest = Reply<'models', 'test'>;

const probeColumns: TableColumn<ModelTest>[] = [
  { name: 'ok', value: (probed) => probed.ok },
  { name: 'latency', value: (probed) => probed.latencyMs },
  { name: 'said', value: ({ reply, error }) => reply ?? error },
];

export const modelsGroup: CommandGroup = {
  commands: [
    modelCrud.list({
      examples: ['', '--provider ollama', '--json'],
      next: (rows) => {
        const ill = rows.find(({ health }) => health.status === 'down');
        if (ill) {
          return `What ails it: adjutant models health, then: adjutant models test ${ill.name}`;
        }
        const isAlone = rows.length === 1 && rows[0]?.source === 'builtin';
        return isAlone ? 'No language model yet. Add one: adjutant models create' : undefined;
      },
      seeAlso: 'adjutant models routing get',
    }),
    modelCrud.get({
      examples: ['claude', 'openai/gpt --json', 'claude --fields modelId,price'],
    }),
    modelCreate,
    modelUpdate,
    modelCrud.delete({
      examples: ['claude', 'claude --yes', 'openai/gpt --yes'],
      ask: ({ name }) => `Delete model ${safe(name)}? Its key goes with it.`,
    }),
    modelCrud.act('default', endpoints.default, {
      examples: ['claude', 'openai/gpt', 'claude --json'],
      said: ({ name }) => `${safe(name)} answers by default.`,
    }),
    test,
    modelHealth,
    modelKnown,
    availableModels,
    modelUsage,
  ],
  notes: [
    'Which one answers for which topic: adjutant models routing',
    'Command-line tools as models: adjutant models cli',
  ],
};
