"""A bench without hardware: emulated servos on an emulated bus, with an arm in MuJoCo on their horns."""
