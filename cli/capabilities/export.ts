import { cp, mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import { type Capability, contracts } from '../../src/client/index.js';
import { type Context, command, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { beginInstall, installedAs } from './install.js';

const endpoints = await contracts.capabilities();

/** Finds what is installed under an id or a slug, after it was installed if it was not. */
const provided = async (context: Context, id: string): Promise<Capability[]> => {
  if (id.startsWith('ollama:')) throw usageFault('What Ollama has cannot be exported from here.');
  const client = await context.client();
  const slugsOf = async () => (await client.capabilities.list({})).capabilities;
  const before = await slugsOf();
  const known = before.find((each) => each.id === id && each.install === null && each.path);
  if (known) return [known];
  const slug = await slugOf(context, id);
  const needed = before.find((each) => each.id === id)?.install?.needs ?? [];
  return (await slugsOf()).filter((each) => each.id === slug || needed.includes(each.id));
};

/** Installs what is not installed; resolves to its slug. */
const slugOf = async (context: Context, id: string): Promise<string> => {
  try {
    const begun = await beginInstall(context, { id });
    await installedAs(context, begun);
    return begun.resource.id;
  } catch (error) {
    const isThere = error instanceof ApiError && error.code === 'installed';
    const slug = isThere && error.details?.find(({ path }) => path === 'slug')?.message;
    if (!slug) throw error;
    return slug;
  }
};

/** Copies the folder of what is installed, in one step, so that a half copy has no name. */
const copyTo = async ({ id, path }: Capability, to: string): Promise<void> => {
  const found = path === null ? null : await stat(path).catch(() => null);
  if (path === null || !found?.isDirectory()) {
    throw failed(`${safe(id)} has no files here. Run this on the machine of the daemon.`);
  }
  const target = join(to, basename(path));
  const part = `${target}.part`;
  await rm(part, { recursive: true, force: true });
  await cp(path, part, { recursive: true, errorOnExist: false });
  await rm(target, { recursive: true, force: true });
  await rename(part, target);
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
    await mkdir(to, { recursive: true });
    const ids = Object.values(args).flat();
    for (const id of ids) {
      for (const found of await provided(context, String(id))) {
        await copyTo(found, to);
        context.out.note(`Copied: ${safe(found.id)}`);
      }
    }
    context.out.line(oneLine(to));
  },
});
