package record

// For tests of the ring alone.
type Ring = counted

const RingSize = ringSize
