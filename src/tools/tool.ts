import type { ObjectSchema } from 'joi';
import type { CallDetail } from '../kernel/contract/approval.js';
import { type JsonSchema, jsonSchema } from '../kernel/jsonschema.js';

export interface ToolContext {
  userId: string;
  agentId: string | null;
  /** The execution of a hook, or a pipeline run with untrusted input. Its output is untrusted. */
  executionId: string | null;
  /** The pipeline run, trusted or not. */
  runId?: string;
  /** Creates and returns the only folder that a tool may access. */
  openFolder(): Promise<string>;
  signal: AbortSignal;
  /** The same for all retries, so that a recipient can detect duplicates. */
  effectId: string;
  /** The arguments contain a credential: the call may go only to their address. */
  holdsSecret?: true;
  /** Number of times that the cause came back to this daemon. Sent along. */
  hops?: number;
  /** Approved or granted: the call may go only to the address in its arguments. */
  isApproved?: true;
  /** Covered by a grant of an untrusted agent: no redirect may be followed. */
  isByGrant?: true;
  /** The Markdown argument with untrusted text escaped. */
  markdown?: string;
  /** Maximum characters of the result as JSON. */
  longestResult?: number;
  /** Redacts credentials before a text is cut. */
  redact?(text: string): Promise<string>;
}

export interface Tool {
  skillId: string;
  /** Unique in the skill, and the action of the permission. */
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Whether some calls have effects outside the daemon. `isSafe` decides for each call. */
  sideEffects: boolean;
  /** Whether a call is recorded before it runs, and never retried automatically. */
  once: boolean;
  /** Whether data is sent to the address in the arguments. */
  sendsOut: boolean;
  /** Calls of an untrusted agent always need approval, even with a grant. */
  asksUntrusted?: true;
  /** Arguments that a hook may not fill from its payload. */
  literal?: readonly string[];
  /** Markdown argument in which untrusted text is escaped. */
  markdown?: string;
  /** Whether others wrote the result, which taints the agent. */
  outside: boolean;
  /** If it differs from call to call. */
  outsideIn?(result: unknown): boolean;
  /** Permission that the user needs (`shell`, `mcp`). Admins have all. */
  needs: string | null;
  /** Reason why the tool cannot run here, or null. */
  unavailable: string | null;
  /** Arguments that every process on the machine can read. They must not contain credentials. */
  exposed?: readonly string[];
  /**
   * Whether the result depends only on the arguments and the clock, so that it cannot contain
   * earlier secrets.
   */
  isStateless?: boolean;
  /** SHA-256 of the definition and address of an MCP tool. */
  definitionDigest?: string;
  /** Reason why a result is a failure, for hooks, or null. Models judge results themselves. */
  failureIn?(result: unknown): string | null;
  /** Safe as in RFC 9110. The call may still send data out. */
  isSafe(args: Record<string, unknown>): boolean;
  /** Checks the arguments as `run` does. Throws ToolRefused. */
  validate?(args: Record<string, unknown>): void;
  /**
   * Facts that a person needs besides the arguments to decide on a call. Throws ToolRefused for a
   * call that `run` would refuse.
   */
  describe?(args: Record<string, unknown>, userId: string): Promise<CallDetail[]>;
  /** Throws ToolRefused, ToolFailed, or the abort reason before the start. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>;
}

export type ToolIdentity = Pick<Tool, 'skillId' | 'name'>;

/** Another agent will deliver the result. The calling agent waits. */
export class PendingResult {
  constructor(readonly agentId: string) {}
}

/** Added, removed and permitted together. */
export interface ToolGroup {
  skillId: string;
  description: string;
  /** Organization whose agents, hooks and pipelines alone have the tools. Absent for everybody. */
  orgId?: string;
  tools: Tool[];
}

export interface ArgumentFault {
  /** With dots, such as `headers.accept` or `argv.0`. Empty for all arguments. */
  path: string;
  message: string;
}

/** The call was not made: invalid arguments (`details`), or the tool is unavailable. */
export class ToolRefused extends Error {
  constructor(
    sentence: string,
    readonly details?: ArgumentFault[],
  ) {
    super(sentence);
    this.name = 'ToolRefused';
  }
}

/** The call was made and failed. */
export class ToolFailed extends Error {
  constructor(
    sentence: string,
    /** False only if the call had no effect and may be retried. */
    readonly effectBegan: boolean,
    cause?: unknown,
  ) {
    super(sentence, { cause });
    this.name = 'ToolFailed';
  }
}

/** No effect, sends nothing out, and returns only data of the owner. */
export const HARMLESS = { sideEffects: false, once: false, sendsOut: false, outside: false };

export interface ToolDefinition<T>
  extends Omit<
    Tool,
    'inputSchema' | 'needs' | 'unavailable' | 'isSafe' | 'validate' | 'describe' | 'run'
  > {
  input: ObjectSchema<T>;
  needs?: string;
  unavailable?: string | null;
  /** Defaults to the absence of side effects. */
  isSafe?: Tool['isSafe'];
  describe?(args: T, userId: string): Promise<CallDetail[]>;
  run(args: T, context: ToolContext, tool: ToolIdentity): Promise<unknown>;
}

/** The JSON schema is created on first use. */
export const defineTool = <T>({ input, describe, ...spec }: ToolDefinition<T>): Tool => {
  let described: JsonSchema | undefined;
  return {
    ...spec,
    get inputSchema() {
      described ??= jsonSchema(input);
      return described;
    },
    needs: spec.needs ?? null,
    unavailable: spec.unavailable ?? null,
    isSafe: spec.isSafe ?? (() => !spec.sideEffects),
    validate: (args) => void validateArguments(args, { input, ...spec }),
    ...(describe && {
      describe: async (args, userId) =>
        describe(validateArguments(args, { input, ...spec }), userId),
    }),
    run: async (args, context) => {
      const checked = validateArguments(args, { input, ...spec });
      context.signal.throwIfAborted();
      return spec.run(checked, context, spec);
    },
  };
};

const validateArguments = <T>(args: unknown, { input, ...tool }: ToolDefinition<T>): T => {
  const { error, value } = input.validate(args, { abortEarly: false, errors: { label: false } });
  if (!error) return value;
  const faults = error.details.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw refusal(tool, faults);
};

export const refusal = (tool: ToolIdentity, details: ArgumentFault[]): ToolRefused => {
  const faults = details.map(({ path, message }) => `${path || 'the arguments'} ${message}`);
  return new ToolRefused(`${tool.skillId}.${tool.name}: ${faults.join('; ')}`, details);
};
