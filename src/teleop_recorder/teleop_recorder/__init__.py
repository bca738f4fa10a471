"""Recording of takes, and what is made of them: HDF5, bags, videos, data sets."""
