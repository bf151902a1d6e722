"""Work on partitions of rows, in the threads of this process or on a cluster."""
