import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation, operationFields } from '../kernel/contract/operation.js';
import * as s from '../kernel/contract/schema.js';

const bytes = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const bytesOrNull = () => s.nullable(bytes());
const licence = () => s.nullable(s.anyText(200));
const USES = ['chat', 'tools', 'code', 'embedding', 'speech'] as const;
const purpose = () => s.oneOf('UseCase', ...USES);
const WINDOW =
  'Tokens, at most what it was made for; unless given 32768, 16384 or 8192, as there is room for it';
const contextWindow = () => s.optional(s.queryWhole(256, 10_000_000).description(WINDOW));
/** Ours: what is installed has a name that is a folder. */
const id = () =>
  s
    .text(200)
    .pattern(/^[a-z0-9][A-Za-z0-9._:/-]*$/, 'a slug, or <kind>:<name>')
    .example('gguf:qwen3-4b');

const MemoryWarning = s.object('MemoryWarning', {
  message: s.anyText(1000).description('A sentence for people'),
  neededBytes: bytes().description('With the context window that was asked for, else 8192 tokens'),
  usableBytes: bytes().description('That a model may use of what is free'),
});
export type MemoryWarning = s.Static<typeof MemoryWarning>;
const memoryWarning = () => s.nullable(MemoryWarning);

const InstallFacts = s.object('CapabilityInstall', {
  bytes: bytesOrNull().description('To be fetched; null: not known before'),
  licence: licence(),
  licenceUrl: s.nullable(s.text(2000)),
  mustAccept: s.flag().description('True: its licence has terms of its own, to be agreed to'),
  source: s.text(2000).description('Where it is fetched from'),
  needs: s.list(s.text(200), 20).description('Other capabilities that it works with only'),
  warning: memoryWarning().description(
    'null: it fits the machine as it is now, or its memory is not known',
  ),
});

export const Capability = s.object('Capability', {
  id: s.text(200).description('What is installed has a slug; what is not, the id to install'),
  kind: s.oneOf('CapabilityKind', 'model', 'engine', 'language', 'tool', 'runtime'),
  name: s.text(200),
  status: s.oneOf(
    'CapabilityStatus',
    'available',
    'missing',
    'degraded',
    'installing',
    'unsupported',
  ),
  version: s.nullable(s.text(200)),
  path: s.nullable(s.text(4096)).description('For admins'),
  reason: s.nullable(s.anyText(2000)).description('Why it is not available'),
  bytes: bytesOrNull().description('On the disk; null: it was not installed from here'),
  licence: licence().description('Of what is installed'),
  usedBy: s.list(s.text(300), 1000).description('What would miss it: `models/qwen`'),
  install: s.nullable(InstallFacts).description('null: it is there, or is not installed from here'),
});
export type Capability = s.Static<typeof Capability>;

const CapabilitySource = s.object('CapabilitySource', {
  path: s
    .nullable(s.text(4096))
    .description('The folder of ADJUTANT_CAPABILITY_SOURCE; for admins'),
  fault: s.nullable(s.anyText(1000)).description('Why nothing can be installed from it'),
  items: s.list(
    s.object('SourceItem', {
      id: s.text(200).description('What to install'),
      slug: s.text(100),
      kind: s.oneOf('SourceItemKind', 'model', 'engine', 'language'),
      name: s.text(200),
      version: s.nullable(s.text(200)),
      bytes: bytes(),
      licence: licence(),
      installed: s.flag(),
    }),
    2000,
  ),
});

/** An operation that installs something, and what is to be known before it begins. */
export const Installation = s.object('Installation', {
  ...operationFields(),
  warning: memoryWarning().description(
    'null: it fits the machine as it is now, or its memory is not known',
  ),
});

const Speed = s.object('TokensPerSecond', {
  unit: s
    .oneOf('SpeedUnit', 'written', 'read')
    .description('The tokens that are counted: written in replies, or read to make vectors'),
  estimated: s.nullable(s.amount(0, Number.MAX_SAFE_INTEGER)),
  measured: s.nullable(
    s.object('MeasuredSpeed', {
      median: s.amount(0, Number.MAX_SAFE_INTEGER),
      spread: s
        .amount(0, Number.MAX_SAFE_INTEGER)
        .description('Of the fastest and the slowest run, as a part of the median'),
    }),
  ),
});

const ModelFit = s.object('ModelFit', {
  model: s.text(200).description('What to install, or the slug of what is installed'),
  name: s.text(200),
  useCases: s.list(purpose(), 5),
  parameters: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)),
  quantization: s.nullable(s.text(40)),
  contextWindow: s.whole(0, 100_000_000).description('At most what the model was made for'),
  weightsBytes: bytes(),
  kvCacheBytes: bytesOrNull().description('null: the shape of the model is not known'),
  bufferBytes: bytesOrNull(),
  totalBytes: bytes(),
  runsOn: s.oneOf('RunsOn', 'gpu', 'cpu', 'split', 'none'),
  headroomBytes: s.whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  tokensPerSecond: Speed,
  licence: licence(),
  installed: s.flag(),
  reason: s
    .nullable(s.anyText(2000))
    .description('Why it can be neither used nor installed: damaged, or not in the folder'),
  recommended: s
    .flag()
    .description('The first choice for the use case that was asked for, or chat'),
  recommendedFor: s.list(purpose(), 5).description('All use cases that it is the first choice for'),
  why: s.anyText(3000),
});
export type ModelFit = s.Static<typeof ModelFit>;

export const Hardware = s.object('Hardware', {
  platform: s.text(40).example('linux'),
  cpu: s.object('MachineCpu', {
    model: s.nullable(s.text(200)),
    cores: s.nullable(s.whole(1, 100_000)).description('That may be used at once'),
    arch: s.text(40),
    flags: s.list(s.text(60), 1000),
  }),
  memory: s.object('MachineMemory', {
    totalBytes: bytesOrNull(),
    availableBytes: bytesOrNull(),
    bytesPerSecond: bytesOrNull().description('Measured: what the processors read together'),
  }),
  gpus: s.list(
    s.object('MachineGpu', {
      vendor: s.oneOf('GpuVendor', 'nvidia', 'amd', 'apple', 'intel', 'unknown'),
      name: s.text(200),
      vramBytes: bytesOrNull().description('null: not known, or it uses the machine’s memory'),
      driver: s.nullable(s.text(100)),
    }),
    64,
  ),
  gpuNote: s.nullable(s.anyText(1000)).description('On a GPU that llama does not use'),
  disk: s.object('MachineDisk', { freeBytes: bytesOrNull() }),
  sources: s.list(
    s.object('HardwareSource', {
      part: s.oneOf('HardwarePart', 'cpu', 'memory', 'gpus', 'disk'),
      source: s.text(200),
      note: s.nullable(s.anyText(1000)),
    }),
    20,
  ),
  catalogue: s.object('CatalogueSource', {
    date: s.text(10),
    source: s.text(2000).description('`built in`, or where it was read from'),
    fault: s.nullable(s.anyText(1000)).description('Why another catalogue is not used'),
  }),
  fit: s.list(ModelFit, 1000),
});
export type Hardware = s.Static<typeof Hardware>;

export const NewCapability = s.object('NewCapability', {
  id: id(),
  url: s.optional(s.text(2000).description('Of a GGUF file that is in no catalogue; https')),
  sha256: s.optional(
    s
      .text(64)
      .pattern(/^[0-9a-f]{64}$/, '64 hexadecimal digits')
      .description('Required with url'),
  ),
  acceptLicence: s.optional(s.flag().description('True: you have read its licence and agree')),
  useCase: s.optional(
    s
      .oneOf('RegisteredUse', ...USES)
      .description(
        'Registers it as a model once it is installed; the default model if there is none but the digest',
      ),
  ),
  contextWindow: s.optional(s.whole(256, 10_000_000).description(WINDOW)),
});
export type NewCapability = s.Static<typeof NewCapability>;

export type Installation = s.Static<typeof Installation>;
export type CapabilitySource = s.Static<typeof CapabilitySource>;

const path = '/api/capabilities';

export const capabilities = contract({
  list: endpoint.get(path, {
    summary: 'List all capabilities',
    query: s.object('CapabilityQuery', {
      kind: s.optional(s.oneOf('CapabilityKind', 'model', 'engine', 'language', 'tool', 'runtime')),
    }),
    reply: s.object('Capabilities', {
      capabilities: s.list(Capability, 2000),
      source: s
        .nullable(CapabilitySource)
        .description('The folder that everything is installed from; null: the network'),
    }),
  }),
  hardware: endpoint.get(`${path}/hardware`, {
    summary: 'This machine, and the models that fit it',
    query: s.object('HardwareQuery', {
      contextWindow: contextWindow(),
      useCase: s.optional(purpose()),
    }),
    reply: Hardware,
  }),
  install: endpoint.post(`${path}/install`, {
    summary: 'Install a capability, for example a model',
    access: 'admin',
    audit: 'capabilities.install',
    example: { id: 'gguf:qwen3-4b', useCase: 'chat' },
    body: NewCapability,
    reply: Installation,
    status: 202,
  }),
  measure: endpoint.post(`${path}/measure`, {
    summary: 'Measure how many tokens a second a model writes, or reads for vectors, here',
    access: 'admin',
    audit: 'capabilities.measure',
    example: { model: 'qwen' },
    body: s.object('NewMeasurement', {
      model: s.text(100).description('The name of a registered model'),
      contextWindow: s.optional(s.whole(256, 10_000_000)),
    }),
    reply: Operation,
    status: 202,
  }),
  verify: endpoint.post(`${path}/{slug}/verify`, {
    summary: 'Check the files of what is installed against their checksums',
    access: 'admin',
    reply: Operation,
    status: 202,
  }),
  delete: endpoint.delete(`${path}/{slug}`, {
    summary: 'Remove what is installed',
    access: 'admin',
    audit: 'capabilities.delete',
    query: s.object('CapabilityRemoval', {
      force: s.optional(s.queryFlag().description('Though models use it')),
    }),
  }),
});
