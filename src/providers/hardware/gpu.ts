import type { Systeminformation } from 'systeminformation';
import type { Gpu } from './machine.js';

type GraphicsController = Systeminformation.GraphicsControllerData;

const MIB = 2 ** 20;

const VENDORS: [RegExp, Gpu['vendor']][] = [
  [/nvidia/i, 'nvidia'],
  [/\bAMD\b|advanced micro devices|\bATI\b|radeon/i, 'amd'],
  [/apple/i, 'apple'],
  [/intel/i, 'intel'],
];
/** Adapters that only draw a screen, such as those of virtual machines and remote consoles. */
const DRAWS_ONLY =
  /vmware|virtualbox|qxl|virtio|bochs|cirrus|hyper-v|basic (display|render)|aspeed|matrox|parallels/i;

/** Empty for a controller that cannot compute. The memory size of the driver goes before the bus's. */
export const toGpus = (controller: GraphicsController, isApple: boolean): Gpu[] => {
  const { vendor = '', model = '', driverVersion } = controller;
  const name = (controller.name || model || vendor).trim().slice(0, 200);
  const described = `${vendor} ${model} ${name}`;
  if (name === '' || DRAWS_ONLY.test(described)) return [];
  const known = VENDORS.find(([pattern]) => pattern.test(described))?.[1] ?? 'unknown';
  const isUnified = isApple || controller.vramDynamic === true;
  const mebibytes = controller.memoryTotal || controller.vram || 0;
  return [
    {
      vendor: known,
      name,
      vramBytes: isUnified || mebibytes <= 0 ? null : mebibytes * MIB,
      driver: driverVersion?.slice(0, 100) || null,
      isUnified,
    },
  ];
};
