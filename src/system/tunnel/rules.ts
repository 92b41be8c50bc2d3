import { isAbsolute } from 'node:path';
import type { FieldFault } from '../../kernel/problem.js';
import { TEMPORARY } from '../../providers/tunnels/cloudflared.js';
import { HOST_KEY } from '../../providers/tunnels/hostkeys.js';
import type { ProviderName } from '../../providers/tunnels/providers.js';
import type { TunnelSettingsInput } from './contract.js';

type TunnelField = Exclude<keyof TunnelSettingsInput, 'provider' | 'publicUrl'>;

/** Settings that each provider accepts beside an address. */
const TAKES: Record<ProviderName, TunnelField[]> = {
  cloudflared: ['name', 'token', 'credentialId'],
  ngrok: ['token', 'credentialId'],
  tailscale: [],
  ssh: ['target', 'sshPort', 'remotePort', 'identityFile', 'hostKeys'],
  proxy: [],
};

/**
 * An origin and nothing more. Input that a URL parser would tolerate, such as line breaks, is
 * refused.
 */
const ADDRESS =
  /^https?:\/\/([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(:\d{1,5})?\/?$/;
/**
 * No value that matches these can be taken for an option, or be interpreted by ssh in another way.
 */
const TARGET = /^([A-Za-z_][\w.-]*@)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const PATH = /^\/[^\p{Cc}"'%\\]+$/u;
const TOKEN = /^[\w.=+/~-]{8,}$/;

/** Returns the origin of an address; null if it is not valid. */
export const originOf = (address: string): string | null =>
  ADDRESS.test(address) && URL.canParse(address) ? new URL(address).origin : null;

/** Returns the faults in the settings, each with its field. */
export const tunnelFaults = (given: TunnelSettingsInput, fixedUrl: string | null): FieldFault[] => [
  ...useless(given),
  ...addressFaults(given, fixedUrl),
  ...missing(given, fixedUrl),
  ...shapes(given),
];

/** Validates the path of a file on the proxy, which goes into the proxy's configuration. */
export const fileFault = (path: 'certificate' | 'key', file: string | undefined): FieldFault[] =>
  file === undefined || (PATH.test(file) && !/[\s;{}$]/.test(file))
    ? []
    : [fault(path, 'must be an absolute path of plain characters')];

const useless = (given: TunnelSettingsInput): FieldFault[] => {
  const fields: TunnelField[] = Object.values(TAKES).flat();
  return [...new Set(fields)]
    .filter((field) => given[field] !== undefined && given[field] !== null)
    .filter((field) => !TAKES[given.provider].includes(field))
    .map((field) => fault(field, `is nothing that ${given.provider} takes`));
};

const addressFaults = (
  { publicUrl }: TunnelSettingsInput,
  fixedUrl: string | null,
): FieldFault[] => {
  if (publicUrl === undefined || publicUrl === null) return [];
  const origin = originOf(publicUrl);
  if (origin === null) {
    return [fault('publicUrl', 'must be an address without a path, as https://hooks.example.org')];
  }
  if (TEMPORARY.test(new URL(origin).hostname)) {
    return [fault('publicUrl', 'is a temporary name: it ends with the tunnel')];
  }
  const isOther = fixedUrl !== null && originOf(fixedUrl) !== origin;
  return isOther ? [fault('publicUrl', `is set by ADJUTANT_PUBLIC_URL: ${fixedUrl}`)] : [];
};

const missing = (given: TunnelSettingsInput, fixedUrl: string | null): FieldFault[] => {
  const { provider, name, token, credentialId, target, remotePort } = given;
  const hasAddress = Boolean(given.publicUrl ?? fixedUrl);
  const isNamed = provider === 'cloudflared' && Boolean(name ?? token ?? credentialId);
  const needsAddress = isNamed || provider === 'ssh' || provider === 'proxy';
  return [
    ...(needsAddress && !hasAddress ? [fault('publicUrl', 'is required')] : []),
    ...(provider === 'ssh' && target === undefined ? [fault('target', 'is required')] : []),
    ...(provider === 'ssh' && remotePort === undefined ? [fault('remotePort', 'is required')] : []),
  ];
};

const shapes = (given: TunnelSettingsInput): FieldFault[] => {
  const { name, target, identityFile, hostKeys = [], token, credentialId } = given;
  const wrong = (path: TunnelField, isRight: boolean, message: string): FieldFault[] =>
    isRight ? [] : [fault(path, message)];
  return [
    ...wrong('name', NAME.test(name ?? 'x'), 'must be letters, digits and . _ -, not - first'),
    ...wrong('target', TARGET.test(target ?? 'x'), 'must be a host, or user@host'),
    ...wrong('identityFile', isPath(identityFile ?? '/x'), 'must be an absolute path'),
    ...wrong(
      'hostKeys',
      hostKeys.every((key) => HOST_KEY.test(key)),
      'must be as ssh-ed25519 AAAA…',
    ),
    ...wrong('token', TOKEN.test(token ?? 'xxxxxxxx'), 'must be the bare token, without blanks'),
    ...wrong('name', !(name && (token || credentialId)), 'needs no token: give one of the two'),
    ...wrong(
      'credentialId',
      !(token && credentialId),
      'takes the place of token: give one of the two',
    ),
  ];
};

const isPath = (path: string): boolean => isAbsolute(path) && PATH.test(path);

const fault = (
  path: TunnelField | 'publicUrl' | 'certificate' | 'key',
  message: string,
): FieldFault => ({
  path,
  message,
});
