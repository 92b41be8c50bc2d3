import { resolve } from 'node:path';
import { type Capability, contracts } from '../../src/client/index.js';
import { type Context, command, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { followInstall, slugOfId, startInstall } from './begin.js';
import { copyInstalled, openTarget, refuseTaken } from './copy.js';

const endpoints = await contracts.capabilities();
/** Kinds of what has a folder of its own. */
const KINDS: string[] = ['model', 'engine', 'language'];

/** Returns all that there is. */
const listAll = async (context: Context): Promise<Capability[]> =>
  (await (await context.client()).capabilities.list({})).capabilities;

/** Finds what is installed under an id or a slug, after it was installed if it was not. */
const provided = async (context: Context, id: string): Promise<Capability[]> => {
  const before = await listAll(context);
  const known = before.find((each) => each.id === id && each.install === null && each.path);
  if (known) return [known];
  const slug = await slugOf(context, id);
  const needed = before.find((each) => each.id === id)?.install?.needs ?? [];
  return (await listAll(context)).filter((each) => each.id === slug || needed.includes(each.id));
};

/** Installs what is not installed; resolves to its slug. */
const slugOf = async (context: Context, id: string): Promise<string> => {
  const begun = await startInstall(context, { id });
  if (begun.is === 'begun') {
    context.out.note(`Installing ${safe(id)} first`);
    await followInstall(context, begun.operation);
    return begun.operation.resource.id;
  }
  if (begun.capability === null) throw failed(begun.sentence);
  return begun.capability.id;
};

/** Throws before anything is fetched, if one of the names is that of nothing, or has no room there. */
const refuseUnknown = async (context: Context, names: string[], to: string): Promise<void> => {
  if (names.some((name) => name.startsWith('ollama'))) {
    throw usageFault('What Ollama has cannot be exported from here.');
  }
  const capabilities = await listAll(context);
  const named = (name: string): Capability[] => {
    const wanted = slugOfId(name);
    const slugs = capabilities.filter(({ id }) => slugOfId(id).startsWith(wanted));
    const exact = slugs.filter(({ id }) => slugOfId(id) === wanted);
    return exact.length > 0 ? exact : slugs.filter(({ id }) => slugOfId(id)[wanted.length] === '-');
  };
  const unknown = names.filter((name) => named(name).length === 0);
  if (unknown.length > 0)
    throw usageFault(`Nothing was copied. No such capability: ${unknown.map(safe).join(', ')}`);
  await openTarget(
    to,
    capabilities.filter(({ kind }) => KINDS.includes(kind)).map(({ path }) => path),
  );
  // One of several quantizations is chosen by the daemon, and looked at before it is copied.
  for (const [only, ...others] of names.map(named))
    if (only && others.length === 0) await refuseTaken(to, slugOfId(only.id));
};

/** Says what of several was exported, and what was not, where that ends early. */
const tellRest = (context: Context, done: string[], ids: string[]): void => {
  if (ids.length === 1 && !context.signal.aborted) return;
  const left = ids.filter((id) => !done.includes(id));
  if (done.length > 0) context.out.warn(`Exported: ${done.map(safe).join(', ')}.`);
  context.out.warn(`Not exported: ${left.map(safe).join(', ')}.`);
};

export const exportCommand = command({
  name: 'export',
  args: '<id...>',
  summary: 'Copy what is installed into a folder, from which an offline machine installs it',
  calls: [endpoints.list, endpoints.install],
  examples: [
    'llama gguf:qwen3-4b --to /media/usb/capabilities',
    'tesseract:ita --to ./capabilities',
    'qwen3-4b-q4_k_m --to ./capabilities',
  ],
  flags: { to: textFlag('<folder>', 'Where it is copied to') },
  notes: [
    'What is not installed yet is installed first. Run it on the machine of the daemon.',
    'There: ADJUTANT_CAPABILITY_SOURCE=<folder> adjutant serve, then capabilities install.',
  ],
  run: async (context, { args, flags }) => {
    if (flags.to === undefined) throw usageFault('Say where to: --to <folder>');
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
      tellRest(context, done, ids);
      throw error;
    }
    context.out.line(oneLine(to));
  },
});
