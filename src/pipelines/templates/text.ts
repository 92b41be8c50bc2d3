import { isUtf8 } from 'node:buffer';
import Boom from '@hapi/boom';
import type { RawBody } from '../../kernel/contract/endpoint.js';
import { isDeeper } from '../../kernel/depth.js';
import type { FieldFault } from '../../kernel/problem.js';
import { badRequest } from '../../kernel/route.js';
import { checkTemplate, type KnownNames } from './check.js';
import type { NewTemplate, TemplateCheck } from './contract.js';
import type { Nesting } from './nestedtemplates.js';
import { normalizeTemplate } from './normalize.js';
import { addSpellingFaults } from './spelling.js';
import { type FaultWithLine, parseTemplateYaml } from './yaml.js';

/** YAML (RFC 9512), its older media types, and JSON. */
const TYPES = /^(application\/(yaml|x-yaml|json)|text\/(yaml|x-yaml))\b/i;
const MAX_DEPTH = 32;

type NestingFaults = (template: Nesting) => Promise<FieldFault[]>;

export const validateTemplateText = async (
  raw: RawBody,
  known: KnownNames,
  nested: NestingFaults,
): Promise<TemplateCheck> => {
  const { template, faults } = await read(raw, known, nested);
  return {
    valid: template !== null,
    problems: faults,
    template: template && normalizeTemplate(template),
  };
};

/** Throws 400 with all faults and their lines. */
export const parseTemplateText = async (
  raw: RawBody,
  known: KnownNames,
  nested: NestingFaults,
): Promise<NewTemplate> => {
  const { template, faults } = await read(raw, known, nested);
  if (template) return template;
  const details = faults.map(({ path, message, line }) => ({
    path,
    message: line === undefined ? message : `${message} (line ${line})`,
  }));
  throw badRequest(details);
};

const read = async (
  { bytes, headers }: RawBody,
  known: KnownNames,
  nested: NestingFaults,
): Promise<{ template: NewTemplate | null; faults: FaultWithLine[] }> => {
  const type = headers['content-type'] ?? 'application/yaml';
  if (!TYPES.test(type)) {
    throw Boom.unsupportedMediaType(
      'The content type must be application/yaml or application/json',
    );
  }
  if (!isUtf8(bytes)) {
    return { template: null, faults: [{ path: '', message: 'is not valid UTF-8' }] };
  }
  const yaml = parseTemplateYaml(bytes.toString('utf8'));
  if (yaml.faults.length > 0 || !('lineOf' in yaml)) return { template: null, faults: yaml.faults };
  const { value } = yaml;
  if (typeof value === 'object' && value !== null && isDeeper(value, MAX_DEPTH)) {
    const message = `must not be nested more than ${MAX_DEPTH} levels deep`;
    return { template: null, faults: [{ path: '', message }] };
  }
  const checked = checkTemplate(value, known);
  const below = await nested({ id: null, stages: checked.stages });
  const faults = addSpellingFaults([...checked.faults, ...below], { yaml, known, value });
  const template = faults.length > 0 ? null : checked.template;
  const lined = faults.map((fault) => {
    const line = yaml.lineOf(fault.path);
    return { ...fault, ...(line !== undefined && { line }) };
  });
  return { template, faults: lined };
};
