import { type Capability, type Client, contracts } from '../../src/client/index.js';
import { nearest } from '../../src/kernel/nearest.js';
import { exportCommand } from '../capabilities/export.js';
import { installCommand } from '../capabilities/install.js';
import { listCapabilities } from '../capabilities/list.js';
import { modelUsers } from '../capabilities/start.js';
import { type CommandGroup, type Context, command, switchFlag } from '../command.js';
import { failed } from '../exit.js';
import { noteOutcome, noWait, showStarted } from '../operations/follow.js';
import { safe } from '../text.js';

const endpoints = await contracts.capabilities();

const measure = command({
  name: 'measure',
  args: '<model>',
  calls: [endpoints.measure],
  examples: ['qwen3-4b-q4_k_m', 'qwen --no-wait', 'qwen --json'],
  flags: { noWait },
  notes: [
    'Speed is the median of five short replies, in tokens generated per second; for an ' +
      'embedding model, of five inputs, in tokens read per second. adjutant hardware ' +
      'shows it.',
  ],
  run: async (context, { args, flags }) => {
    const client = await context.client();
    const begun = await client.capabilities.measure({ body: { model: args.model } });
    noteOutcome(context, await showStarted(context, begun, flags));
  },
});

const verify = command({
  name: 'verify',
  args: '<slug>',
  calls: [endpoints.verify],
  examples: ['qwen3-4b-q4_k_m', 'llama --no-wait', 'llama --json'],
  flags: { noWait },
  notes: ['Exit code 1: a file is damaged.'],
  run: async (context, { args, flags }) => {
    const begun = await (await context.client()).capabilities.verify({ slug: args.slug });
    await showStarted(context, begun, flags);
  },
});

const remove = command({
  name: 'delete',
  args: '<slug>',
  calls: [endpoints.delete, endpoints.list, 'models delete'],
  examples: ['qwen3-4b-q4_k_m', 'tesseract-ita --yes', 'llama --force --yes'],
  flags: {
    force: switchFlag('Delete the capability even if models use it. These models stop working'),
  },
  run: async (context, { args, flags: { force } }) => {
    const client = await context.client();
    const found = await findInstalled(client, args.slug);
    const { id: slug, usedBy } = found;
    const models = usedBy.map((user) => safe(user.replace(/^models\//, '')));
    if (!force && context.ask.isPossible && !context.flags.yes && isOfModels(found)) {
      await removeWithModels(context, found);
      return;
    }
    if (models.length > 0 && !force) {
      throw failed(
        `${safe(slug)} is used by ${models.join(', ')}.`,
        ...models.map((name) => `Delete the model first: adjutant models delete ${name}`),
        'Or add --force. The models that use the capability then stop working.',
      );
    }
    const loss = models.length === 0 ? '' : ` ${models.join(', ')} will stop working.`;
    await context.ask.confirm(`Remove ${safe(slug)} and its files?${loss}`);
    await client.capabilities.delete({ slug, query: force ? { force: true } : {} });
    context.out.note(`Removed: ${safe(slug)}`);
  },
});

/** Whether only models use it. */
const isOfModels = (found: Capability): boolean =>
  found.kind === 'model' &&
  found.usedBy.length > 0 &&
  modelUsers(found).length === found.usedBy.length;

/** Removes the files of a model and the models that use it, after one question that names both. */
const removeWithModels = async (context: Context, found: Capability): Promise<void> => {
  const names = modelUsers(found);
  const { models, capabilities } = await context.client();
  const what = names.length === 1 ? 'the model' : 'the models';
  const users = `${what} ${names.map(safe).join(', ')}`;
  const verb = names.length === 1 ? 'uses' : 'use';
  await context.ask.confirm(
    `Remove ${safe(found.id)} and its files, and ${users} that ${verb} it?`,
  );
  for (const name of names) {
    await models.delete({ name });
    context.out.note(`Deleted model: ${safe(name)}`);
  }
  await capabilities.delete({ slug: found.id, query: {} });
  context.out.note(`Removed: ${safe(found.id)}`);
};

/**
 * Finds an installed capability by its slug, its install id, or the name of the only model that
 * uses it. Throws if none or several match.
 */
const findInstalled = async (client: Client, typed: string): Promise<Capability> => {
  const { capabilities } = await client.capabilities.list({});
  const there = capabilities.filter(
    ({ status }) => status === 'available' || status === 'degraded',
  );
  const slug = typed
    .replace(/^(gguf|whisper):/, '')
    .replaceAll(':', '-')
    .toLowerCase();
  const exact = there.find(({ id }) => id === typed) ?? there.find(({ id }) => id === slug);
  if (exact) return exact;
  const isMeant = ({ id, kind, usedBy }: Capability): boolean =>
    kind === 'model' &&
    (usedBy.includes(`models/${typed}`) || (typed.includes(':') && id.startsWith(`${slug}-`)));
  const [found, ...others] = there.filter(isMeant);
  if (found && others.length === 0) return found;
  const meant = nearest(
    typed,
    there.map(({ id }) => id),
  );
  throw failed(
    found
      ? `"${safe(typed)}" is ambiguous: ` +
          `${[found, ...others].map(({ id }) => safe(id)).join(' and ')}.`
      : `No installed capability is named "${safe(typed)}".`,
    ...(meant ? [`Did you mean: ${safe(meant)}`] : []),
    'Installed capabilities: adjutant capabilities list --installed',
  );
};

export const capabilitiesGroup: CommandGroup = {
  commands: [listCapabilities, installCommand, verify, measure, remove, exportCommand],
  notes: ['Hardware and models that fit it: adjutant hardware'],
};
