import Joi from 'joi';
import {
  anyText,
  flag,
  lenient,
  list,
  object,
  oneOf,
  optional,
  text,
  whole,
} from '../kernel/contract/schema.js';
import { BadUrl, parseUrl } from '../kernel/egress.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { argvFault } from '../providers/confine/request.js';

/** The configuration of an MCP server. All of it may be shown to an admin. */
export interface ServerSpec {
  at:
    | { kind: 'stdio'; command: string; args: string[]; readable: string[]; network: boolean }
    | { kind: 'http'; url: string };
  /** The longest silence within a call, in milliseconds. */
  timeoutMs: number;
  /** True if every user may use it, not only users with the right to MCP servers. */
  everyone: boolean;
}

/** The part of the configuration that is never shown. */
export interface ServerSecrets {
  env: Record<string, string>;
  headers: Record<string, string>;
}

/** The configuration as it is written in `mcp.json` and in the API. */
export interface WrittenServer {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  readable?: string[];
  network?: boolean;
  url?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
  everyone?: boolean;
}

/** Thrown if the configuration is not valid; the message names the field. */
export class BadServer extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(path === '' ? reason : `${path} ${reason}`);
    this.name = 'BadServer';
  }
}

export const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * The schema of an entry of `mcp.json`. Ours: further fields, which other programs write into the
 * same file, are ignored.
 */
const Written = lenient(
  object('McpServer', {
    type: optional(oneOf('McpType', 'stdio', 'http', 'streamable-http', 'streamableHttp')),
    command: optional(text(4_096)),
    args: optional(list(anyText(32_768), 60)),
    env: optional(texts()),
    readable: optional(list(text(4_096), 16)),
    network: optional(flag()),
    url: optional(text(8_192)),
    headers: optional(texts()),
    timeoutMs: optional(whole(1_000, 600_000)),
    everyone: optional(flag()),
  }).xor('command', 'url'),
);

function texts() {
  return Joi.object<Record<string, string>>()
    .pattern(/^[\w-]{1,100}$/, anyText(32_768))
    .max(50);
}

/** Parses an entry of `mcp.json`. Errors: BadServer. */
export const writtenServer = (given: unknown): WrittenServer => {
  const { value, error } = Written.validate(given, { errors: { label: false } });
  const [detail] = error?.details ?? [];
  if (detail) throw new BadServer(detail.path.join('.'), detail.message);
  if (!value) throw new BadServer('', 'is missing');
  return value;
};

/** Splits a configuration into what may be shown and the secrets. Errors: BadServer. */
export const specOf = (written: WrittenServer): { spec: ServerSpec; secrets: ServerSecrets } => {
  const { env = {}, headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, everyone = false } = written;
  for (const [name, value] of Object.entries(headers)) {
    const fault = value === '' ? null : faultOfHeaderValue(value);
    if (fault !== null) throw new BadServer(`headers.${name}`, fault);
  }
  return { spec: { at: placeOf(written), timeoutMs, everyone }, secrets: { env, headers } };
};

const placeOf = ({ command, args = [], readable = [], network = false, url }: WrittenServer) => {
  if (url !== undefined) return { kind: 'http' as const, url: checkedUrl(url) };
  const fault = argvFault([command ?? '', ...args]);
  if (fault) throw new BadServer('command', `with its arguments ${fault}`);
  return { kind: 'stdio' as const, command: command ?? '', args, readable, network };
};

const checkedUrl = (url: string): string => {
  try {
    return parseUrl(url).href;
  } catch (error) {
    if (!(error instanceof BadUrl)) throw error;
    throw new BadServer('url', `cannot be used: ${error.message}`);
  }
};
