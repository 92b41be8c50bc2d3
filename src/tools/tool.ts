import type { ObjectSchema } from 'joi';
import { type JsonSchema, jsonSchema } from '../kernel/jsonschema.js';

/** For whom and where a tool runs. */
export interface ToolContext {
  userId: string;
  agentId: string | null;
  executionId: string | null;
  /** Absolute; the only place on the machine that a tool may touch. It exists. */
  folder: string;
  signal: AbortSignal;
  /** Constant over retries of the same effect, so that whoever receives it twice can tell. */
  effectId: string;
  /** Its arguments hold the value of a credential: it must go where they say and nowhere else. */
  holdsSecret?: true;
  /** How often what it is about came back to this daemon; it goes with what is sent. */
  hops?: number;
  /** The owner approved exactly this call: it goes to where its arguments say and nowhere else. */
  isApproved?: true;
}

export interface Tool {
  skillId: string;
  /** Unique within its skill; also the permission's action. */
  name: string;
  /** For models and people: what it does and returns. */
  description: string;
  inputSchema: JsonSchema;
  /** Some calls have effects outside the daemon or on the machine; `isSafe` tells which have not. */
  sideEffects: boolean;
  /** Must be recorded as started before it runs, and is never run again by itself. */
  once: boolean;
  /** Sends bytes off the machine to wherever its arguments say. */
  sendsOut: boolean;
  /** What it returns was written by others: whoever reads it is tainted from then on. */
  outside: boolean;
  /** The right that its user must have (`shell`, `mcp`); admins have all. null: anybody may. */
  needs: string | null;
  /** Why it cannot run here, the sentence with which `run` refuses; null: it can. */
  unavailable: string | null;
  /** Arguments that every process of the machine can read: no credential is put into them. */
  exposed?: readonly string[];
  /** Whether this very call changes nothing (safe as in RFC 9110); it may still send out. */
  isSafe(args: Record<string, unknown>): boolean;
  /** Errors: ToolRefused, ToolFailed; the signal's reason where it was aborted before it began. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>;
}

/** Given in place of a result that another agent will bring: the calling agent rests until then. */
export class Pending {
  constructor(readonly agentId: string) {}
}

/** Tools that come and are permitted together. */
export interface ToolGroup {
  skillId: string;
  description: string;
  tools: Tool[];
}

export interface ArgumentFault {
  /** Of the argument, with dots: `headers.accept`, `argv.0`; empty for all of them. */
  path: string;
  message: string;
}

/** The call was not made: bad arguments, which `details` names, or a tool that cannot run here. */
export class ToolRefused extends Error {
  constructor(
    sentence: string,
    readonly details?: ArgumentFault[],
  ) {
    super(sentence);
    this.name = 'ToolRefused';
  }
}

/** The call was made and brought no result. */
export class ToolFailed extends Error {
  constructor(
    sentence: string,
    /** False only where nothing can have happened, so that it may be tried again. */
    readonly effectBegan: boolean,
    cause?: unknown,
  ) {
    super(sentence, { cause });
    this.name = 'ToolFailed';
  }
}

interface ToolDefinition<T>
  extends Omit<Tool, 'inputSchema' | 'needs' | 'unavailable' | 'isSafe' | 'run'> {
  input: ObjectSchema<T>;
  needs?: string;
  unavailable?: string | null;
  /** Left out, a call is safe where the tool has no side effects at all. */
  isSafe?: Tool['isSafe'];
  run(args: T, context: ToolContext): Promise<unknown>;
}

/** A tool that checks its arguments first, and describes them by the same schema when it is asked. */
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
      return spec.run(checked, context);
    },
  };
};

const argumentsOf = <T>(args: unknown, { input, ...tool }: ToolDefinition<T>): T => {
  const { error, value } = input.validate(args, { abortEarly: false, errors: { label: false } });
  if (!error) return value;
  const faults = error.details.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw refusal(tool, faults);
};

/** The refusal of arguments, with a sentence that names each. */
export const refusal = (
  tool: Pick<Tool, 'skillId' | 'name'>,
  details: ArgumentFault[],
): ToolRefused => {
  const faults = details.map(({ path, message }) => `${path || 'the arguments'} ${message}`);
  return new ToolRefused(`${tool.skillId}.${tool.name}: ${faults.join('; ')}`, details);
};
