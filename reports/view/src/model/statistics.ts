// Computes Pearson's correlation over pairs of which both values are finite.

export interface Correlation {
  r: number;      // NaN where one of the columns does not vary or there are fewer than 2 pairs
  pairs: number;
}

export function correlation(x: ArrayLike<number>, y: ArrayLike<number>): Correlation {
  let pairs = 0;
  let [meanX, meanY, xx, yy, xy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < x.length; ++i) {
    const [a, b] = [x[i]!, y[i]!];
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    ++pairs;
    const [dx, dy] = [a - meanX, b - meanY];
    meanX += dx / pairs;
    meanY += dy / pairs;
    xx += dx * (a - meanX);
    yy += dy * (b - meanY);
    xy += dx * (b - meanY);
  }
  return { r: pairs > 1 && xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : NaN, pairs };
}
