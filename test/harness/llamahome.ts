import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { LLAMA_ENGINE } from './llamaengine.js';
import { type ScriptedOptions, writeScriptedGguf } from './scriptedgguf.js';

export const installEngine = (home: string, engine = LLAMA_ENGINE): void => {
  mkdirSync(join(home, 'capabilities'), { recursive: true });
  symlinkSync(engine, join(home, 'capabilities/llama'));
};

export const installFakeEngine = (home: string, source: string): void => {
  const engine = join(home, 'engine');
  const folder = join(engine, 'node_modules/node-llama-cpp');
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'dist/index.js'), source);
  installEngine(home, engine);
};

/** Precedes the text of a model at the end of its file. */
export const SCRIPT_MARK = '\nreply: ';

/**
 * Fake node-llama-cpp. A model's text follows the last SCRIPT_MARK of its file, or is the whole
 * file; it loads once that is not `hold`, and stays silent if it is `mute`.
 */
export const HOLDING_ENGINE = `
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
let said = '';
export class LlamaChat {
  chatWrapper = { generateContextState: () => ({ contextText: { tokenize: () => [1] } }) };
  async generateResponse(history, { onResponseChunk }) {
    if (said === 'mute') await new Promise(() => {});
    onResponseChunk({ text: said });
    return { metadata: { stopReason: 'eogToken' } };
  }
}
const tokenMeter = { getState: () => ({}), diff: () => ({ usedOutputTokens: 1 }) };
const sequence = { contextSize: 100, tokenMeter };
const model = { trainContextSize: 100, createContext: async () => ({ getSequence: () => sequence }) };
const loadModel = async ({ modelPath }) => {
  do said = readFileSync(modelPath, 'utf8').split(${JSON.stringify(SCRIPT_MARK)}).at(-1); while (said === 'hold' && (await wait(10, true)));
  return model;
};
export const getLlama = async () => ({ loadModel });
`;

/** What a model says whose file is missing, after its name. */
export const notInstalled = (slug: string): string =>
  `needs ${slug}, which is not installed. See the installed models: adjutant capabilities list --kind model --installed`;

/** Creates the folder of an installed model. Returns the path of its file. */
export const modelFile = (home: string, slug: string): string => {
  const folder = join(home, 'capabilities', slug);
  mkdirSync(folder, { recursive: true });
  return join(folder, 'model.gguf');
};

/** Installs a model that writes a script. Returns the path of its file. */
export const installScripted = (
  home: string,
  slug: string,
  script: string[],
  options: ScriptedOptions = {},
): string => {
  const path = modelFile(home, slug);
  writeScriptedGguf(path, script, options);
  return path;
};

/** Template in which a reply starts after a colon, but continues after the line of a result. */
const COLON_TEMPLATE =
  "{% for m in messages %}{{'<|im_start|>'+m['role']+':'+m['content']+'<|im_end|>'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{'<|im_start|>assistant:'}}{% endif %}";

/** Installs a model that calls a tool first, and writes a script after the result. */
export const installCaller = (
  home: string,
  slug: string,
  { name, input }: { name: string; input: string },
  script: string[],
  contextLength = 4096,
): string =>
  installScripted(home, slug, script, {
    contextLength,
    extraTokens: ['||call: ', name, ...(input === '' ? [] : [input])],
    after: {
      ':': '||call: ',
      '||call: ': name,
      [name]: '(',
      ...(input === '' ? { '(': ')' } : { '(': input, [input]: ')' }),
    },
    chatTemplate: COLON_TEMPLATE,
  });

/** Header of version 3 with 2^40 empty entries. */
export const endlessHeader = (): Buffer => {
  const bytes = Buffer.alloc(1024 * 1024);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  bytes.writeBigUInt64LE(2n ** 40n, 16);
  return bytes;
};

/** Process ids of models in that home. */
export const modelProcesses = (home: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    const isOurs = /^\d+$/.test(name) && isModel(name, home);
    return isOurs ? [Number(name)] : [];
  });

const isModel = (pid: string, home: string): boolean => {
  try {
    // Excludes the confining process. Since version 24 Node.js names its main thread differently.
    const isNode = basename(readlinkSync(`/proc/${pid}/exe`)) === 'node';
    // Processes that read file headers have a folder there too.
    const isModel = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('llama/main.js');
    return (
      isNode &&
      isModel &&
      readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${home}/scratch/`)
    );
  } catch {
    return false;
  }
};
