import type { ObjectSchema } from 'joi';
import { type JsonSchema, jsonSchema } from '../kernel/jsonschema.js';

/** The user, the agent and the folder for which a tool runs. */
export interface ToolContext {
  userId: string;
  agentId: string | null;
  /**
   * The execution of a hook, or the run of a pipeline in whose stage is what came from outside. What it
   * writes is untrusted.
   */
  executionId: string | null;
  /**
   * Creates the only folder on the machine that a tool may touch, if it does not exist, and returns
   * its absolute path.
   */
  openFolder(): Promise<string>;
  signal: AbortSignal;
  /** The ID of the effect, the same in all retries, so that a recipient can detect repeats. */
  effectId: string;
  /**
   * Set if the arguments contain the value of a credential: the call must go to their address only.
   */
  holdsSecret?: true;
  /** The number of times that the cause of this call came back to this daemon. It is sent along. */
  hops?: number;
  /**
   * Set if the owner approved this call, or a grant covers it: it must go to the address in its
   * arguments only.
   */
  isApproved?: true;
  /**
   * Set if a grant covers this call of an untrusted agent: no redirect may be followed, because it
   * could lead out of what the grant covers.
   */
  isByGrant?: true;
  /** The argument that is Markdown, with text from outside escaped; the argument itself unless given. */
  markdown?: string;
  /** The most characters of the result's JSON that the caller reads; any number unless given. */
  longestResult?: number;
  /** Takes the values of the user's credentials out of a text, before a part of it is cut out. */
  redact?(text: string): Promise<string>;
}

export interface Tool {
  skillId: string;
  /** The name, unique within the skill; also the action of the permission. */
  name: string;
  /** The tool's purpose and result, for models and people. */
  description: string;
  inputSchema: JsonSchema;
  /**
   * True if some calls have effects outside the daemon or on the machine; `isSafe` says which have
   * none.
   */
  sideEffects: boolean;
  /** True if a call must be recorded before it runs, and is never retried automatically. */
  once: boolean;
  /** True if the tool sends bytes off the machine to the address in its arguments. */
  sendsOut: boolean;
  /**
   * Set if a call of an untrusted agent is always asked about, even where the owner granted the tool
   * for the run.
   */
  asksUntrusted?: true;
  /** Arguments in which a hook has its owner's words alone, and nothing of what started it. */
  literal?: readonly string[];
  /** The argument that is Markdown, in which text from outside is escaped (`markdown` of the context). */
  markdown?: string;
  /** True if others wrote the result, which taints the agent that reads it. */
  outside: boolean;
  /** Returns true if others wrote some of a result, where that differs from call to call. */
  outsideIn?(result: unknown): boolean;
  /**
   * The right that the user needs (`shell`, `mcp`); admins have all rights. null: no right is
   * needed.
   */
  needs: string | null;
  /**
   * The reason why the tool cannot run here, also the message with which `run` refuses; null if it
   * can.
   */
  unavailable: string | null;
  /**
   * Arguments that every process of the machine can read, so they must not contain a credential.
   */
  exposed?: readonly string[];
  /**
   * True if the result follows from the arguments and the clock alone, so that nothing that an
   * earlier call sent can be in it.
   */
  isStateless?: boolean;
  /**
   * The SHA-256 of the definition and the address of a tool that an MCP server offers; absent for
   * other tools.
   */
  definitionDigest?: string;
  /**
   * Returns why a result means that the call did not succeed, or null. A model judges that by itself;
   * this is for a hook, whose result nobody may read. By default every result means success.
   */
  failureIn?(result: unknown): string | null;
  /** True if this call changes nothing (safe as in RFC 9110). It may still send data out. */
  isSafe(args: Record<string, unknown>): boolean;
  /**
   * Runs the tool. Throws ToolRefused and ToolFailed, or the signal's reason if it was aborted
   * before the start.
   */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>;
}

export type ToolIdentity = Pick<Tool, 'skillId' | 'name'>;

/**
 * A placeholder for a result that another agent will deliver. The calling agent waits until then.
 */
export class Pending {
  constructor(readonly agentId: string) {}
}

/** Tools that are added, removed and permitted together. */
export interface ToolGroup {
  skillId: string;
  description: string;
  tools: Tool[];
}

export interface ArgumentFault {
  /** The path of the argument, with dots: `headers.accept`, `argv.0`; empty for all arguments. */
  path: string;
  message: string;
}

/**
 * The error if a call was not made: the arguments are wrong, as listed in `details`, or the tool
 * cannot run here.
 */
export class ToolRefused extends Error {
  constructor(
    sentence: string,
    readonly details?: ArgumentFault[],
  ) {
    super(sentence);
    this.name = 'ToolRefused';
  }
}

/** The error if a call was made and brought no result. */
export class ToolFailed extends Error {
  constructor(
    sentence: string,
    /** False only if the call cannot have had an effect, so that it may be retried. */
    readonly effectBegan: boolean,
    cause?: unknown,
  ) {
    super(sentence, { cause });
    this.name = 'ToolFailed';
  }
}

/** The traits of a tool that has no effect, sends nothing out and returns only its owner's data. */
export const HARMLESS = { sideEffects: false, once: false, sendsOut: false, outside: false };

export interface ToolDefinition<T>
  extends Omit<Tool, 'inputSchema' | 'needs' | 'unavailable' | 'isSafe' | 'run'> {
  input: ObjectSchema<T>;
  needs?: string;
  unavailable?: string | null;
  /** Returns true if a call is safe. By default a call is safe if the tool has no side effects. */
  isSafe?: Tool['isSafe'];
  run(args: T, context: ToolContext, tool: ToolIdentity): Promise<unknown>;
}

/**
 * Creates a tool that validates its arguments first. Its JSON schema is made from the same schema
 * on first use.
 */
export const defineTool = <T>({ input, ...spec }: ToolDefinition<T>): Tool => {
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
    run: async (args, context) => {
      const checked = argumentsOf(args, { input, ...spec });
      context.signal.throwIfAborted();
      return spec.run(checked, context, spec);
    },
  };
};

const argumentsOf = <T>(args: unknown, { input, ...tool }: ToolDefinition<T>): T => {
  const { error, value } = input.validate(args, { abortEarly: false, errors: { label: false } });
  if (!error) return value;
  const faults = error.details.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw refusal(tool, faults);
};

/** Returns the refusal of arguments, with a message that names each. */
export const refusal = (tool: ToolIdentity, details: ArgumentFault[]): ToolRefused => {
  const faults = details.map(({ path, message }) => `${path || 'the arguments'} ${message}`);
  return new ToolRefused(`${tool.skillId}.${tool.name}: ${faults.join('; ')}`, details);
};
