import Joi from 'joi';
import * as s from '../kernel/contract/schema.js';
import { type Confinement, ConfinementFailed } from '../providers/confine/confinement.js';
import { argvFault } from '../providers/confine/request.js';
import { defineTool, ToolFailed, type ToolGroup, ToolRefused } from './tool.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 256 * 1024;

const UNAVAILABLE =
  'Commands are unavailable: no confinement works on this machine. Install bubblewrap (on a ' +
  'machine that lets it create namespaces), or turn on the setting allowUnconfined ' +
  '(ADJUTANT_ALLOW_UNCONFINED)';

const input = s.object('ShellRunInput', {
  argv: s
    .list(s.anyText(32_768), 64)
    .min(1)
    .custom((argv: string[], helpers) => {
      const fault = argvFault(argv);
      return fault ? helpers.message({ custom: fault }) : argv;
    })
    .prefs({ abortEarly: true })
    .description('Program and its arguments, not interpreted by a shell'),
  env: s.optional(
    Joi.object<Record<string, string>>()
      .pattern(
        /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
        // The same limit as for a credential.
        s
          .anyText(65_536)
          .pattern(/^[^\0]*$/)
          .messages({ 'string.pattern.base': 'must not contain a NUL character' }),
      )
      .max(32)
      .description('Environment variables. Pass credentials here, never in argv.'),
  ),
  timeoutMs: s.optional(
    s.integer(100, 120_000).description(`In milliseconds. Defaults to ${DEFAULT_TIMEOUT_MS}.`),
  ),
});

/** Without a confinement, the tool is listed with the reason and refuses each call. */
export const shellTools = (confinement: Confinement | null): ToolGroup => ({
  skillId: 'shell',
  description: "Commands in the agent's folder",
  tools: [
    defineTool({
      skillId: 'shell',
      name: 'run',
      description:
        'Run one program in your folder. A confined program has no network. Returns { exitCode, ' +
        'signal, stdout, stderr, truncated, timedOut, durationMs }. For pipes and other shell ' +
        'syntax, pass ["sh", "-c", "…"].',
      input,
      sideEffects: true,
      once: true,
      sendsOut: confinement?.kind === 'none',
      outside: confinement?.kind === 'none',
      needs: 'shell',
      exposed: ['argv'],
      unavailable: confinement ? null : UNAVAILABLE,
      run: async ({ argv, env = {}, timeoutMs = DEFAULT_TIMEOUT_MS }, { openFolder, signal }) => {
        if (!confinement) throw new ToolRefused(UNAVAILABLE);
        const maxOutputBytes = MAX_OUTPUT_BYTES;
        const folder = await openFolder();
        return confinement
          .run({ argv, env, folder, timeoutMs, maxOutputBytes, network: false, signal })
          .catch((error: unknown) => fail(error, signal));
      },
    }),
  ],
});

const fail = (error: unknown, signal: AbortSignal): never => {
  if (error instanceof ConfinementFailed) throw new ToolFailed(error.message, false, error);
  if (signal.aborted) throw new ToolFailed('The command was stopped', true, error);
  throw error;
};
