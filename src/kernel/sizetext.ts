/** `2.3 GiB`, `850 MiB`: binary units, as for memory and disks. */
export const sizeText = (bytes: number): string => {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit > 0 && value < 99.95 ? value.toFixed(1) : String(Math.round(value));
  return `${bytes < 0 ? '-' : ''}${digits} ${UNITS[unit]}`;
};

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
