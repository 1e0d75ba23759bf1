"""The commands of ``tuneledger``, a file for each subject."""
