import { resolve } from 'node:path';
import { type Capability, contracts } from '../../src/client/index.js';
import { type Context, command, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { assertTargetFree, copyInstalled, openTarget } from './copy.js';
import { followInstall, slugFromId, startInstall } from './start.js';

const endpoints = await contracts.capabilities();
/** Kinds that have a folder of their own. */
const KINDS: string[] = ['model', 'engine', 'language'];

const listAll = async (context: Context): Promise<Capability[]> =>
  (await (await context.client()).capabilities.list({})).capabilities;

/** Finds the installed capabilities for an id or a slug. Installs them first if necessary. */
const provided = async (context: Context, id: string): Promise<Capability[]> => {
  const before = await listAll(context);
  const known = before.find((each) => each.id === id && each.install === null && each.path);
  if (known) return [known];
  const slug = await ensureInstalled(context, id);
  const needed = before.find((each) => each.id === id)?.install?.needs ?? [];
  return (await listAll(context)).filter((each) => each.id === slug || needed.includes(each.id));
};

const ensureInstalled = async (context: Context, id: string): Promise<string> => {
  const begun = await startInstall(context, { id });
  if (begun.is === 'begun') {
    context.out.note(`Installing ${safe(id)} first`);
    await followInstall(context, begun.operation);
    return begun.operation.resource.id;
  }
  if (begun.capability === null) throw failed(begun.sentence);
  return begun.capability.id;
};

/** Throws before any download if a name is unknown or its target name is taken. */
const refuseUnknown = async (context: Context, names: string[], to: string): Promise<void> => {
  if (names.some((name) => name.startsWith('ollama'))) {
    throw usageFault('Ollama models cannot be exported. Export another capability.');
  }
  const capabilities = await listAll(context);
  const named = (name: string): Capability[] => {
    const wanted = slugFromId(name);
    const slugs = capabilities.filter(({ id }) => slugFromId(id).startsWith(wanted));
    const exact = slugs.filter(({ id }) => slugFromId(id) === wanted);
    return exact.length > 0
      ? exact
      : slugs.filter(({ id }) => slugFromId(id)[wanted.length] === '-');
  };
  const unknown = names.filter((name) => named(name).length === 0);
  if (unknown.length > 0)
    throw usageFault(
      `Unknown capability: ${unknown.map(safe).join(', ')}. Nothing was copied. List them: adjutant capabilities list`,
    );
  await openTarget(
    to,
    capabilities.filter(({ kind }) => KINDS.includes(kind)).map(({ path }) => path),
  );
  // The daemon chooses among several quantizations, so that target is checked before the copy.
  for (const [only, ...others] of names.map(named))
    if (only && others.length === 0) await assertTargetFree(to, slugFromId(only.id));
};

/** Reports what was exported and what was not, if the command ends early. */
const reportPartial = (context: Context, done: string[], ids: string[]): void => {
  if (ids.length === 1 && !context.signal.aborted) return;
  const left = ids.filter((id) => !done.includes(id));
  if (done.length > 0) context.out.warn(`Exported: ${done.map(safe).join(', ')}.`);
  context.out.warn(`Not exported: ${left.map(safe).join(', ')}.`);
};

export const exportCommand = command({
  name: 'export',
  args: '<id...>',
  summary: 'Copy installed capabilities to a folder for offline machines',
  calls: [endpoints.list, endpoints.install],
  examples: [
    'llama gguf:qwen3-4b --to /media/usb/capabilities',
    'tesseract:ita --to ./capabilities',
    'qwen3-4b-q4_k_m --to ./capabilities',
  ],
  flags: { to: textFlag('<folder>', 'Folder to copy to. Required') },
  notes: [
    'Missing capabilities are installed first. Run this command on the machine of ' + 'the daemon.',
    'Offline machine: ADJUTANT_CAPABILITY_SOURCE=<folder> adjutant serve, then ' +
      'capabilities install.',
  ],
  run: async (context, { args, flags }) => {
    if (flags.to === undefined) throw usageFault('Target folder is missing. Add --to <folder>');
    const to = resolve(flags.to);
    const ids = Object.values(args).flat().map(String);
    await refuseUnknown(context, ids, to);
    const done: string[] = [];
    try {
      for (const id of ids) {
        for (const found of await provided(context, id)) {
          context.signal.throwIfAborted();
          await copyInstalled(context, found, to);
          context.out.note(`Copied: ${safe(found.id)}`);
        }
        done.push(id);
      }
    } catch (error) {
      reportPartial(context, done, ids);
      throw error;
    }
    context.out.line(oneLine(to));
  },
});
